/** Complete lists that hold fields which look like paging and are none: never a doubt, never a refusal. */
import type { Shape } from './cell.js';

const decoy = (name: string, fields: string, ...also: string[]): Shape => ({
  table: 'decoys',
  name,
  shapes: [`list={"$resource":"$rows",${fields}}`, ...also],
  promise: 'right',
});

/** Every list with decoys; each is whole. */
export const decoys: readonly Shape[] = [
  decoy('csrfToken', '"csrfToken":"c0ffee","csrf_token":"c0ffee"'),
  decoy('founded', '"founded":1999,"foundedYear":2011'),
  {
    ...decoy('the total of another resource', '"totalTeams":9000,"totalPlayers":9000'),
    shapes: [
      'list={"$resource":"$rows","totalTeams":9000}',
      'list.teams={"teams":"$rows","totalPlayers":9000,"playerCount":800}',
    ],
  },
  decoy(
    'endCursor beside hasNextPage: false',
    '"pageInfo":{"hasNextPage":false,"endCursor":"Zm9v"}',
  ),
  decoy(
    'tokens of a session',
    '"accessToken":"a","refreshToken":"b","authToken":"c","sessionToken":"d"',
  ),
  decoy('tokens of a sync', '"nextSyncToken":"a","deltaToken":"b","syncCursor":"c"'),
  decoy(
    'the way back',
    '"prevCursor":"a","previous":"/v1/x?page=1","startCursor":"b","firstPage":1,"self":"/v1/x"',
  ),
  decoy(
    'limits and quotas',
    '"limit":500,"maxTotal":9000,"totalQuota":700,"usedTotal":9000,"rateLimit":{"total":800}',
  ),
  decoy(
    'times and sizes',
    '"totalTimeMs":900,"totalBytes":99999,"totalSeconds":400,"totalSize":99999',
  ),
  decoy('dates', '"nextRunAt":"2026-05-01","next_billing_date":"2026-05-01","requestCursor":"r1"'),
  decoy(
    'the organization',
    '"organization":{"id":"org_demo","totalMembers":900,"nextInvoice":"i1","token":"t"}',
  ),
  {
    ...decoy('fields of a record', '"ok":true'),
    looksOtherwise: true,
    shapes: [
      'list={"$resource":"$rows"}',
      'record={"...":"$record","nextToken":"x","hasMore":true,"total":999,"error":"none","status_text":"fail"}',
    ],
  },
  decoy('no error', '"error":null,"errors":[],"success":true,"code":200,"status":"ok"'),
  decoy('a code of 1000', '"code":1000,"message":"OK","status":"active"'),
  decoy('a wrong count', '"count":1,"page":1,"totalPages":1'),
  decoy('last: true', '"last":true,"number":0,"totalPages":1,"cursor":"x"'),
  decoy(
    'empty ways on',
    '"next":null,"nextCursor":"","nextPageToken":null,"hasMore":false,"more":0',
  ),
  decoy(
    'other arrays',
    '"warnings":[],"facets":[{"name":"role","count":900}],"filters":[{"name":"x"}]',
  ),
];
