import { expect, test } from 'vitest';
import { contract } from '../../src/api/contract.js';
import { openApiDocument } from '../../src/api/openapi.js';

interface Operation {
  readonly operationId: string;
  readonly 'x-basis': string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: {
          readonly required?: readonly string[];
          readonly properties?: Record<string, { readonly enum?: readonly string[] }>;
        };
      };
    };
  };
}

const document = openApiDocument() as {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
};

test('it is OpenAPI 3.1 of version 1.0.0 and contains every endpoint once', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info.version).toBe('1.0.0');
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(contract).toSorted(),
  );
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
});

test('a status change is described as the contract says', () => {
  const patch = document.paths['/tryout-applications/{applicationId}']?.['patch'];
  const schema = patch?.requestBody?.content['application/json'].schema;
  expect(patch?.['x-basis']).toBe('stated');
  expect(schema?.required).toEqual(['organizationId']);
  expect(schema?.properties?.['status']?.enum).toContain('shortlisted');
  expect(patch?.parameters).toMatchObject([{ name: 'applicationId', in: 'path' }]);
});

test('assumed operations are marked', () => {
  expect(document.paths['/teams/{teamId}']?.['delete']?.['x-basis']).toBe('assumed');
});

test('the organization is in the query of a tryout read', () => {
  const get = document.paths['/tryout-applications/{applicationId}']?.['get'];
  expect(get?.parameters).toMatchObject([
    { name: 'applicationId', in: 'path' },
    { name: 'organizationId', in: 'query' },
  ]);
});
