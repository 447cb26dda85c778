import { describe, expect, test } from 'vitest';
import { contract, type Endpoint, type EndpointName, endpoint } from '../../src/api/contract.js';
import { routeOf } from '../../src/api/routes.js';
import { settingKeys } from '../../src/config/keys.js';
import type { OverrideKey, Overrides } from '../../src/data/resources.js';

const names = Object.keys(contract) as EndpointName[];
/** The assumed rows, by the setting that overrides each. */
const assumed = names.flatMap((name) => {
  const { basis } = endpoint(name);
  return 'assumed' in basis ? [[basis.override, name] as const] : [];
});

/** A row that the contract does not have: one more assumed call about a team. */
const mergeTeam: Endpoint = {
  route: 'POST /teams/{teamId}/merge',
  summary: 'Merge a team into another',
  org: 'none',
  basis: { assumed: 'not shown', override: 'endpoints.teams.merge' as string as OverrideKey },
  resource: 'teams',
  verb: 'other',
  answers: 'unshown',
};

describe('a new assumed endpoint of a resource', () => {
  const others: Overrides = {
    'endpoints.teams.update': 'PUT /teams/{id}',
    'endpoints.teams.update.semantics': 'replace',
    'endpoints.teams.update.org': 'body',
    'endpoints.teams.delete': 'POST /teams/{id}/remove',
  };
  const own = { method: 'POST', template: '/teams/{teamId}/merge', org: 'none' };

  test('keeps its own route whatever overrides the routes of the others', () => {
    expect(routeOf(mergeTeam, others)).toMatchObject({ ...own, source: 'assumed' });
  });

  test('is overridden only by its own key', () => {
    const override = { 'endpoints.teams.merge': 'PUT /teams/{id}/merged' };
    expect(routeOf(mergeTeam, { ...others, ...override })).toMatchObject({
      method: 'PUT',
      template: '/teams/{teamId}/merged',
      org: 'none',
      source: 'named',
    });
    for (const name of names)
      expect(routeOf(endpoint(name), override)).toEqual(routeOf(endpoint(name), {}));
  });
});

test('an assumed row sends the organization where it says', () => {
  for (const org of ['none', 'body', 'query'] as const)
    expect(routeOf({ ...mergeTeam, org }, {}).org).toBe(org);
  const moved = { 'endpoints.teams.merge.org': 'body' };
  expect(routeOf({ ...mergeTeam, org: 'query' }, moved).org).toBe('body');
});

describe('override keys', () => {
  test.each(assumed)('the default of %s is the route of %s', (key, name) => {
    expect(settingKeys().get(key)?.default).toBe(endpoint(name).route);
  });

  test.each(assumed)('%s changes no row but %s', (key, name) => {
    const override = { [key]: `${endpoint(name).route}/elsewhere`, [`${key}.org`]: 'body' };
    const changed = names.filter((other) => {
      const row = endpoint(other);
      return JSON.stringify(routeOf(row, override)) !== JSON.stringify(routeOf(row, {}));
    });
    expect(changed).toEqual([name]);
  });
});
