import { basename } from 'node:path';
import { expect } from 'vitest';
import { runFolders, runsOf } from '../bulk/user.js';
import { inProcess } from '../support/in-process.js';
import { recordsOf, type Stage, statuses } from './stage.js';

// Commands that write one record, and the undo of a run, each with what must hold once it ended by
// itself after all the kills.

/** How a command that was not killed ended. */
interface Ended {
  readonly code: number | null;
  readonly stdout: string;
}

export interface Scenario {
  readonly line: readonly string[];
  /** True if a before-image is recorded before each write is sent. */
  readonly keepsBefore: boolean;
  /** Not idempotent once reported: after its report was printed the command must not run again, even if killed. */
  readonly isOverOnceReported?: true;
  check(ended: Ended): Promise<void>;
}

interface Application {
  readonly id: string;
  readonly status: string;
  readonly email: string | null;
  readonly discordUserId: string | null;
  readonly convertedPlayerId: string | null;
}

/** Changes the status of one application. */
export function updateOne(stage: Stage, id: string, to: string): Scenario {
  const line = ['tryouts', 'update', id, '--status', to, '--yes', '--json'];
  return {
    line,
    keepsBefore: true,
    async check({ code }) {
      expect(code).toBe(0);
      expect(applied(stage, 'PATCH')).toEqual([id]);
      expect(await statuses(stage.env, [id])).toEqual({ [id]: to });
      await sendsNothing(stage, line);
    },
  };
}

/** Accepts an application and converts it to a player; `made` is called with the player's id. */
export function convertOne(stage: Stage, id: string, made: (player: string) => void): Scenario {
  const line = ['tryouts', 'convert', id, '--accept', '--yes', '--json'];
  return {
    line,
    keepsBefore: false,
    async check({ code }) {
      expect(code).toBe(0);
      expect(applied(stage, 'PATCH')).toEqual([id]);
      expect(applied(stage, 'POST')).toEqual([id]);
      const all = await recordsOf<Application>(stage.env, 'tryout-applications');
      const { convertedPlayerId, email } = all.find((each) => each.id === id) ?? {};
      const players = await recordsOf<{ id: string; email: string | null }>(stage.env, 'players');
      expect(players.filter((each) => each.email === email).map((each) => each.id)).toEqual([
        convertedPlayerId,
      ]);
      made(String(convertedPlayerId));
      await sendsNothing(stage, line);
    },
  };
}

/** Deletes a player. */
export function deleteOne(stage: Stage, id: string): Scenario {
  return {
    line: ['players', 'delete', id, '--yes', '--json'],
    keepsBefore: true,
    async check({ code }) {
      // If killed between the delete and its report, the same command finds nothing to delete.
      expect([0, 5]).toContain(code);
      expect(applied(stage, 'DELETE')).toEqual([id]);
      const { code: found } = await inProcess(`players get ${id}`, stage);
      expect(found).toBe(5);
    },
  };
}

/** Creates a team with a unique name. */
export function createOne(stage: Stage, name: string): Scenario {
  const line = ['teams', 'create', '--name', name, '--yes', '--json'];
  return {
    line,
    keepsBefore: false,
    isOverOnceReported: true,
    async check({ code, stdout }) {
      // A lost create is not sent again: the user decides.
      expect([0, 10, null]).toContain(code);
      const teams = await recordsOf<{ name: string }>(stage.env, 'teams');
      const made = teams.filter((team) => team.name === name).length;
      expect(made).toBe(applied(stage, 'POST').length);
      expect(stage.relay.arrivals.length).toBeLessThan(2);
      if (code === 10) await sendsNothing(stage, line, 10);
      else
        expect({ made, shown: (JSON.parse(stdout) as { name: string }).name }).toEqual({
          made: 1,
          shown: name,
        });
    },
  };
}

/** Undoes the newest run, whose rows held `before`. */
export function undoNewest(stage: Stage, before: Readonly<Record<string, string>>): Scenario {
  const run = basename(runFolders(runsOf(stage.home)).at(-1) ?? '');
  const line = ['runs', 'undo', run, '--yes', '--json'];
  return {
    line,
    keepsBefore: true,
    async check({ code }) {
      expect(code).toBe(0);
      const ids = applied(stage, 'PATCH');
      expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
      expect(await statuses(stage.env, stage.ids)).toEqual(before);
      await sendsNothing(stage, line);
    },
  };
}

/** Applications of people without another application that are not rows of the stage. */
export async function freeApplications(stage: Stage): Promise<string[]> {
  const all = await recordsOf<Application>(stage.env, 'tryout-applications');
  const isAlone = (field: 'email' | 'discordUserId', value: string | null) =>
    value !== null && all.filter((other) => other[field] === value).length === 1;
  const players = await recordsOf<{ email: string | null }>(stage.env, 'players');
  const taken = new Set(players.map(({ email }) => email));
  return all
    .filter(({ id, status, convertedPlayerId, email, discordUserId }) => {
      const isPerson = isAlone('email', email) && isAlone('discordUserId', discordUserId);
      const isFree = convertedPlayerId === null && status === 'pending' && !taken.has(email);
      return isPerson && isFree && !stage.ids.includes(id);
    })
    .map(({ id }) => id);
}

/** The ids of the writes with this method that were applied. */
function applied({ relay }: Stage, method: string): string[] {
  return relay.arrivals
    .filter((each) => each.applied && each.method === method)
    .map(({ id }) => id);
}

/** Runs the same command again, which must send nothing. */
async function sendsNothing(stage: Stage, line: readonly string[], wanted = 0): Promise<void> {
  stage.relay.clear();
  const again = await inProcess(line, stage);
  expect({ code: again.code, arrivals: stage.relay.arrivals }).toEqual({
    code: wanted,
    arrivals: [],
  });
}
