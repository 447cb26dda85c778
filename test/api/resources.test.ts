import { describe, expect, test } from 'vitest';
import {
  contract,
  type EndpointName,
  endpoint,
  type ResourceCall,
} from '../../src/api/contract.js';
import { callFor, resources } from '../../src/api/resources.js';
import { routeParts } from '../../src/api/routes.js';
import { resourceNames } from '../../src/data/resources.js';
import { BugError } from '../../src/errors.js';

const calls = resourceNames.flatMap((name) =>
  Object.entries(resources[name].calls).map(
    ([what, called]) => [name, what as ResourceCall, called] as const,
  ),
);

test.each(calls)('the call of %s to %s is %s, as its contract row says', (name, what, of) => {
  const row = endpoint(of);
  expect(
    [row.resource, row.verb],
    `the \`resource\` and \`verb\` of ${of} in api/contract.ts`,
  ).toEqual([name, what]);
  const { template } = routeParts(row.route);
  expect(template.startsWith(resources[name].path)).toBe(true);
  const ids = [...template.matchAll(/\{(\w+)\}/g)].map(([, id]) => id);
  const own = ids.filter((id) => id !== 'organizationId');
  expect(own).toEqual(what === 'list' || what === 'create' ? [] : [resources[name].idName]);
});

test('every row of the contract but the upload grant is a call of its resource', () => {
  const owned = calls.map(([, , called]) => called);
  const names = Object.keys(contract) as EndpointName[];
  expect(
    names.filter((name) => !owned.includes(name)),
    'no other row of the resource has its `verb` in src/api/contract.ts',
  ).toEqual(['requestUpload']);
  expect(new Set(owned).size).toBe(owned.length);
});

test.each(resourceNames)('%s has a list, of records with a schema', (name) => {
  const { schema, calls: own } = resources[name];
  expect(own.list, 'a row of src/api/contract.ts with the `verb` list').toBeDefined();
  expect(schema.shape, `\`result\` of ${own.list} in src/api/contract.ts`).toHaveProperty('id');
});

describe('a call of a resource', () => {
  test('names the id as the contract does', () => {
    expect(callFor('tryouts', 'update', 'app_1', { status: 'pending' })).toEqual({
      endpoint: 'updateTryout',
      params: { applicationId: 'app_1' },
      body: { status: 'pending' },
    });
  });

  test('needs no id to create a record', () => {
    expect(callFor('teams', 'create', undefined, { name: 'Foxes' })).toEqual({
      endpoint: 'createTeam',
      body: { name: 'Foxes' },
    });
  });

  test('that the contract does not have is a BugError', () => {
    expect(() => callFor('documents', 'get', 'doc_1')).toThrow(BugError);
  });
});
