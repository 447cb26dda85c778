import { describe, expect, test } from 'vitest';
import { contract, type Endpoint, type EndpointName, endpoint } from '../../src/api/contract.js';
import { routeOf } from '../../src/api/routes.js';
import { settingKeys } from '../../src/config/keys.js';
import type { Overrides } from '../../src/data/resources.js';

const names = Object.keys(contract) as EndpointName[];
const assumed = names.filter((name) => 'assumed' in endpoint(name).basis);

/** A row that the contract does not have: one more assumed call about a team. */
const archiveTeam: Endpoint = {
  route: 'POST /teams/{teamId}/archive',
  summary: 'Archive a team',
  org: 'none',
  basis: { assumed: 'not shown' },
  resource: 'teams',
  verb: 'other',
  override: 'endpoints.teams.archive',
  answers: 'unshown',
};

describe('a new assumed endpoint of a resource', () => {
  const others: Overrides = {
    'endpoints.teams.update': 'PUT /teams/{id}',
    'endpoints.teams.update.semantics': 'replace',
    'endpoints.teams.update.org': 'body',
    'endpoints.teams.delete': 'POST /teams/{id}/remove',
  };
  const own = { method: 'POST', template: '/teams/{teamId}/archive', org: 'none' };

  test('keeps its own route whatever overrides the routes of the others', () => {
    expect(routeOf(archiveTeam, others)).toMatchObject({ ...own, source: 'assumed' });
  });

  test('keeps it even without its own override key', () => {
    const { override: _, ...row } = archiveTeam;
    const route = routeOf(row, others);
    expect(route).toMatchObject({ ...own, source: 'assumed', semantics: 'merge' });
    expect(route.configKey).toBeUndefined();
  });

  test('is overridden only by its own key', () => {
    const override = { 'endpoints.teams.archive': 'PUT /teams/{id}/archived' };
    expect(routeOf(archiveTeam, { ...others, ...override })).toMatchObject({
      method: 'PUT',
      template: '/teams/{teamId}/archived',
      org: 'none',
      source: 'named',
    });
    for (const name of names)
      expect(routeOf(endpoint(name), override)).toEqual(routeOf(endpoint(name), {}));
  });
});

describe('override keys', () => {
  const owners = new Map(assumed.map((name) => [String(endpoint(name).override), name]));
  const routeKeys = [...settingKeys().keys()].filter((key) => /^endpoints\.\w+\.\w+$/.test(key));

  test('each assumed row has its own, and no stated row has one', () => {
    expect(assumed.filter((name) => endpoint(name).override === undefined)).toEqual([]);
    expect(owners.size).toBe(assumed.length);
    const stated = names.filter((name) => !assumed.includes(name));
    expect(stated.filter((name) => endpoint(name).override !== undefined)).toEqual([]);
  });

  test('each that config knows belongs to one row, whose route is its default', () => {
    expect([...owners.keys()].toSorted()).toEqual(routeKeys.toSorted());
    for (const [key, name] of owners)
      expect(settingKeys().get(key)?.default).toBe(endpoint(name).route);
  });

  test.each(assumed)('that of %s changes no other row', (name) => {
    const key = String(endpoint(name).override);
    const resource = endpoint(name).resource;
    const override = { [key]: `POST /${resource}/{id}/elsewhere`, [`${key}.org`]: 'body' };
    const changed = names.filter((other) => {
      const row = endpoint(other);
      return JSON.stringify(routeOf(row, override)) !== JSON.stringify(routeOf(row, {}));
    });
    expect(changed).toEqual([name]);
  });
});
