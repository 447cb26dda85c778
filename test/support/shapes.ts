/** The JSON output of each command; a command that prints records of a resource needs no entry. */

import * as z from 'zod/mini';
import { resources } from '../../src/api/resources.js';
import { UploadGrant } from '../../src/api/schemas.js';
import { shells } from '../../src/cli/completion/scripts.js';
import type { Command } from '../../src/cli/define.js';
import { ruleCodes } from '../../src/resources/findings/rule.js';
import { rowResults } from '../../src/runs/report.js';
import { uploadStates } from '../../src/runs/unfinished.js';

const text = z.string();
const textOrNull = z.nullable(text);
const counts = z.record(text, z.number());

const setting = z.object({ key: text, value: textOrNull, origin: text });
const keyStatus = z.object({
  profile: text,
  organization: textOrNull,
  baseUrl: textOrNull,
  keySource: textOrNull,
  keyStored: z.boolean(),
  check: z.enum(['ok', '401', '403', 'unreachable', 'skipped']),
});
const profile = { name: text, organization: textOrNull, baseUrl: textOrNull, active: z.boolean() };
const saved = z.object({ id: text, path: text, bytes: z.number() });
const signed = z.object({ id: text, url: text, expiresAt: textOrNull });
const downloaded = z.union([saved, signed, z.array(z.union([saved, signed]))]);
const deleted = z.object({ id: text, deleted: z.literal(true) });

/** The report of a write to several records. */
export const report = z.looseObject({
  schema: z.literal(1),
  run: textOrNull,
  plan: z.optional(text),
  profile: text,
  organization: text,
  action: text,
  dryRun: z.boolean(),
  summary: counts,
  results: z.array(
    z.looseObject({
      row: z.number(),
      id: text,
      ref: z.optional(text),
      result: z.enum(rowResults),
      before: z.optional(z.record(text, z.unknown())),
      after: z.optional(z.record(text, z.unknown())),
      error: z.optional(z.unknown()),
      step: z.optional(text),
      retryable: z.optional(z.boolean()),
    }),
  ),
});

/** The output of a dry run for one record. */
export const dryRun = z.looseObject({
  schema: z.literal(1),
  dryRun: z.literal(true),
  requests: z.array(z.looseObject({ method: text, path: text })),
  changes: z.array(z.looseObject({ field: text })),
});

const resourceName = z.enum(Object.keys(resources) as (keyof typeof resources)[]);
const missing = z.array(z.object({ resource: resourceName, id: textOrNull, reason: text }));

const template = z.array(z.object({ column: text, field: text, type: text }));

const shapes: Readonly<Record<string, z.ZodMiniType>> = {
  'teams delete': deleted,
  'players delete': deleted,
  'documents delete': deleted,
  'documents download': downloaded,
  'documents preview': downloaded,
  'documents open': z.union([z.extend(saved, { opened: z.boolean() }), signed]),
  'tryouts stats': z.object({
    schema: z.literal(1),
    total: z.number(),
    byStatus: counts,
    byGame: counts,
    byWeek: z.array(z.object({ week: text, count: z.number() })),
    converted: z.number(),
    by: z.optional(z.record(text, counts)),
  }),
  report: z.object({
    schema: z.literal(1),
    organization: text,
    total: z.nullable(z.number()),
    exact: z.boolean(),
    files: z.array(text),
  }),
  overview: z.object({
    schema: z.literal(1),
    profile: text,
    organization: text,
    waiting: z.nullable(
      z.object({
        pending: z.number(),
        oldest: z.nullable(z.object({ id: text, name: text, submittedAt: text })),
        reviewing: z.number(),
        shortlisted: z.number(),
      }),
    ),
    changed: z.nullable(z.object({ submitted: z.number(), updated: z.number() })),
    unfinished: z.object({
      runs: z.array(z.object({ run: text, left: z.number(), total: z.number() })),
      uploads: z.number(),
      decisions: z.number(),
    }),
    findings: z.record(z.enum(ruleCodes), z.nullable(z.number())),
    skipped: z.array(z.object({ codes: z.array(z.enum(ruleCodes)), reason: text })),
  }),
  person: z.object({
    schema: z.literal(1),
    reference: text,
    organization: text,
    applications: z.array(z.looseObject({ id: text })),
    players: z.array(z.looseObject({ id: text })),
    links: z.array(
      z.object({
        from: text,
        to: text,
        by: z.enum(['email', 'discordUserId', 'convertedPlayerId']),
      }),
    ),
    possibleDocuments: z.nullable(z.array(z.object({ id: text, name: text }))),
    files: z.array(text),
    notSearched: z.array(text),
  }),
  check: z.array(
    z.object({
      code: z.enum(ruleCodes),
      ids: z.array(text),
      detail: text,
      look: text,
      fix: textOrNull,
    }),
  ),
  'backup create': z.object({
    schema: z.literal(1),
    snapshot: textOrNull,
    complete: z.boolean(),
    records: z.record(text, z.number()),
    files: z.nullable(z.object({ total: z.number(), unchanged: z.number(), bytes: z.number() })),
    missing,
    removed: z.array(text),
  }),
  'backup verify': z.object({
    schema: z.literal(1),
    folder: text,
    snapshots: z.array(
      z.object({
        name: text,
        ok: z.boolean(),
        complete: z.boolean(),
        records: z.number(),
        documents: z.number(),
        assumed: z.number(),
      }),
    ),
    files: z.number(),
    bytes: z.number(),
    problems: z.array(z.object({ snapshot: text, path: text, problem: text })),
  }),
  'backup diff': z.object({
    schema: z.literal(1),
    from: text,
    to: text,
    differences: z.array(
      z.object({
        resource: resourceName,
        id: text,
        name: text,
        change: z.enum(['added', 'removed', 'changed']),
        changes: z.array(z.object({ field: text, from: z.unknown(), to: z.unknown() })),
      }),
    ),
    compared: z.array(resourceName),
    notCompared: z.array(resourceName),
  }),
  'backup show': z.looseObject({ id: text }),
  'teams template': template,
  'players template': template,
  'uploads list': z.array(
    z.object({
      id: text,
      path: text,
      state: z.enum(uploadStates),
      fileKey: textOrNull,
      startedAt: text,
    }),
  ),
  'uploads forget': z.object({ id: text, fileKey: textOrNull }),
  'uploads create': UploadGrant,
  'uploads put': z.object({ status: z.number(), bytes: z.number() }),
  'runs list': z.array(
    z.object({
      run: text,
      action: text,
      startedAt: text,
      state: z.enum(['finished', 'unfinished']),
      summary: counts,
      profile: text,
    }),
  ),
  'runs show': report,
  'runs resume': report,
  'runs retry': report,
  'runs undo': report,
  'runs prune': z.object({ removed: z.array(text), setAside: z.optional(z.array(text)) }),
  'plan show': z.strictObject({
    schema: z.literal(1),
    hash: text,
    version: text,
    madeAt: text,
    expiresAt: text,
    expired: z.boolean(),
    madeBy: z.strictObject({ user: text, host: text }),
    action: text,
    resource: text,
    profile: text,
    organization: text,
    service: text,
    command: text,
    guards: z.looseObject({}),
    route: z.optional(text),
    leftOut: z.strictObject({ unchanged: z.number(), skipped: z.number() }),
    applied: z.nullable(
      z.strictObject({
        run: text,
        startedAt: text,
        summary: counts,
        state: z.enum(['finished', 'unfinished']),
      }),
    ),
    rows: z.array(
      z.strictObject({
        row: z.number(),
        id: text,
        ref: z.optional(text),
        name: z.optional(text),
        before: z.record(text, z.unknown()),
        after: z.record(text, z.unknown()),
        file: z.optional(z.record(text, z.unknown())),
      }),
    ),
  }),
  'plan apply': report,
  'cursors list': z.array(
    z.object({ name: text, resource: text, records: z.number(), lastAt: textOrNull }),
  ),
  'cursors show': z.object({
    name: text,
    resource: text,
    records: z.number(),
    lastAt: textOrNull,
    filter: textOrNull,
    changed: textOrNull,
    ids: z.array(text),
    pending: z.array(text),
  }),
  'cursors commit': z.object({ name: text, resource: text, committed: z.number() }),
  'cursors reset': z.object({ name: text, resource: text, since: textOrNull }),
  'auth login': z.object({
    profile: text,
    organization: text,
    baseUrl: text,
    keyStored: z.literal(true),
    check: z.enum(['ok', '403', 'skipped']),
    reason: z.optional(text),
    credentialsFile: text,
    active: z.boolean(),
  }),
  'auth status': z.union([keyStatus, z.array(keyStatus)]),
  'auth logout': z.object({
    profile: text,
    removed: z.boolean(),
    runsRemoved: z.number(),
    beforeImagesRemoved: z.number(),
    cursorsRemoved: z.number(),
  }),
  'profile list': z.array(z.object(profile)),
  'profile show': z.object({ ...profile, keyStored: z.boolean(), settings: z.record(text, text) }),
  'profile use': z.object({ name: text, active: z.literal(true) }),
  'profile rename': z.object({ name: text, was: text }),
  'profile remove': z.object({ name: text, removed: z.literal(true) }),
  'config list': z.array(setting),
  'config get': setting,
  'config set': z.object({ key: text, value: text, origin: text }),
  'config unset': z.object({ key: text, value: z.null(), origin: text, removed: z.boolean() }),
  'config path': z.object({
    config: text,
    credentials: text,
    state: textOrNull,
    cache: textOrNull,
  }),
  api: z.unknown(),
  'sandbox start': z.object({
    baseUrl: text,
    organizationId: text,
    apiKey: text,
    fileUrl: text,
    pid: z.number(),
  }),
  'sandbox reset': z.object({ reset: z.literal(true) }),
  'sandbox events': z.array(z.object({ kind: text, applicationId: text, at: text })),
  doctor: z.array(
    z.object({
      check: text,
      result: z.enum(['pass', 'warn', 'fail']),
      detail: text,
      hint: textOrNull,
    }),
  ),
  completion: z.union([
    z.object({ shell: z.enum(shells), script: text }),
    z.object({
      shell: z.enum(shells),
      files: z.array(
        z.object({ path: text, done: z.enum(['written', 'removed', 'unchanged', 'absent']) }),
      ),
    }),
  ]),
  commands: z.array(
    z.object({
      command: text,
      summary: text,
      basis: z.enum(['stated', 'assumed', 'local']),
      flags: z.array(
        z.object({
          name: text,
          short: textOrNull,
          choices: z.nullable(z.array(text)),
          description: text,
        }),
      ),
    }),
  ),
  help: z.object({ text }),
};

/** Returns the schema of a command's JSON; throws for a command that has no shape. */
export function shapeOf(name: string, view: Command['view']): z.core.$ZodType {
  const { resource, isNamed } = view;
  if (resource !== undefined) {
    const record: z.ZodMiniType = resources[resource].schema;
    if (isNamed) return z.union([record, z.array(record)]);
    return 'counted' in view ? z.array(record) : record;
  }
  const shape = shapes[name];
  if (!shape) throw new Error(`${name} needs a shape in test/support/shapes.ts`);
  return shape;
}
