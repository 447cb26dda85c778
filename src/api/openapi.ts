/** The OpenAPI document of the contract table. */
import * as z from 'zod/mini';
import { contract, contractVersion, type Endpoint } from './contract.js';
import { routeParts } from './routes.js';
import { AnyRecord, ErrorBody, TryoutApplication, UploadGrant } from './schemas.js';

type Json = { readonly [key: string]: unknown };

/**
 * Returns the contract table as an OpenAPI 3.1 document. Each operation has an `x-basis`: the
 * section of the contract that states it, or why it is assumed. A response that the contract does
 * not show has no schema.
 */
export function openApiDocument(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Organization-scoped public API of a team management service',
      version: contractVersion,
      description:
        'Written from the contract that rosterctl is built on. Operations whose x-basis is "assumed" are assumptions of rosterctl.',
    },
    servers: [
      { url: '{base_url}', variables: { base_url: { default: 'https://example.com/v1' } } },
    ],
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      schemas: {
        TryoutApplication: schemaOf(TryoutApplication),
        UploadGrant: schemaOf(UploadGrant),
        Record: schemaOf(AnyRecord),
        Error: schemaOf(ErrorBody),
      },
    },
  };
}

function paths(): Json {
  const all: { [template: string]: { [method: string]: Json } } = {};
  for (const [name, row] of Object.entries<Endpoint>(contract)) {
    const { method, template } = routeParts(row.route);
    const operations = (all[template] ??= {});
    operations[method.toLowerCase()] = operation(name, row, method, template);
  }
  return all;
}

function operation(name: string, row: Endpoint, method: string, template: string): Json {
  const body = requestBody(row, method);
  const { basis } = row;
  return {
    operationId: name,
    summary: row.summary,
    // Uploads are an area of their own (contract section 1).
    tags: [row.answers === 'grant' ? 'uploads' : row.resource],
    'x-basis': 'stated' in basis ? 'stated' : 'assumed',
    'x-basis-source': 'stated' in basis ? `contract ${basis.stated}` : basis.assumed,
    ...(row.permission && { 'x-permission': row.permission }),
    parameters: parameters(row, template),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      '2XX': { description: responseText(row), ...responseContent(row) },
      ...Object.fromEntries(
        ['400', '401', '403', '404', ...(row.refusals ?? [])].map((status) => [
          status,
          { description: 'refused', content: json({ $ref: '#/components/schemas/Error' }) },
        ]),
      ),
    },
  };
}

function parameters(row: Endpoint, template: string): Json[] {
  const inPath = [...template.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: String(match[1]),
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery =
    row.org === 'query'
      ? [{ name: 'organizationId', in: 'query', required: true, schema: { type: 'string' } }]
      : [];
  return [...inPath, ...inQuery];
}

/** Returns the documented body, with organizationId if the contract sends it in the body (4.6). */
function requestBody(row: Endpoint, method: string): Json | undefined {
  if (method === 'GET' || (row.org !== 'body' && !row.body)) return undefined;
  const own = row.body ? schemaOf(row.body) : { type: 'object' };
  if (row.org !== 'body') return own;
  const { properties, required } = own as { properties?: Json; required?: readonly string[] };
  return {
    ...own,
    properties: { organizationId: { type: 'string' }, ...properties },
    required: ['organizationId', ...(required ?? [])],
  };
}

function responseText(row: Endpoint): string {
  const texts = {
    list: 'a list; its envelope is not shown',
    record: 'the record',
    grant: 'where to put the file',
    link: 'a signed URL; the shape is not shown',
    unshown: 'not shown',
  } satisfies Record<Endpoint['answers'], string>;
  return texts[row.answers];
}

function responseContent(row: Endpoint): Json {
  if (row.answers === 'grant')
    return { content: json({ $ref: '#/components/schemas/UploadGrant' }) };
  if (row.answers !== 'record') return {};
  const name = row.result === TryoutApplication ? 'TryoutApplication' : 'Record';
  return { content: json({ $ref: `#/components/schemas/${name}` }) };
}

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

function schemaOf(schema: z.core.$ZodType): Json {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input' });
  return plain;
}
