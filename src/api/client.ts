/** The API client: sends the contract's calls through a transport and checks what comes back. */
import { withPlainId } from '../data/http.js';
import { type JsonObject, printJson } from '../data/json.js';
import { isBrokenJson } from '../data/json-body.js';
import { plainText } from '../data/path.js';
import type { Overrides, ResourceName } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import { type CallSite, emptyAnswer, ProtocolError, UsageError } from '../errors.js';
import { bodyOfAnswer, failureOf, listBodyOf } from './answers.js';
import { type Endpoint, endpoint } from './contract.js';
import { checkAnswer, createDrift, type Drift } from './drift.js';
import type { RateLimiter } from './rate-limiter.js';
import { configured, listRecords } from './record-list.js';
import { findRecord } from './records.js';
import { resources } from './resources.js';
import { requestKind } from './retry.js';
import {
  fillPath,
  idParameter,
  type Route,
  routeOf,
  undocumented,
  withListQuery,
} from './routes.js';
import type { Transport } from './transport.js';
import type { Answer, Api, ApiNotes, Call, ListOptions, PlannedRequest } from './types.js';
import { secondsInCache, siteOf, type TransportRequest, type TransportResponse } from './wire.js';

interface ApiOptions {
  readonly connection: Pick<Api, 'baseUrl' | 'organizationId'> &
    Partial<Pick<Api, 'service' | 'urlNote'>> & { readonly key?: string };
  readonly transport: Transport;
  readonly limiter: RateLimiter;
  readonly overrides: Overrides;
  /** Treat drift from the contract and possibly incomplete lists as errors. */
  readonly strict: boolean;
  readonly notes: ApiNotes;
  /** Called when an assumed `METHOD /path` is used, once per run, with a note about it. */
  readonly onAssumedRoute: (route: string, note: string) => void;
  readonly instant: () => Instant;
}

/** A call as it is sent, and where errors say that it went. */
interface ResolvedCall {
  readonly row: Endpoint;
  readonly route: Route;
  readonly path: string;
  readonly body: JsonObject | undefined;
  readonly site: CallSite;
}

type Send = (request: TransportRequest) => Promise<TransportResponse>;

const noNotes: ApiNotes = { note: () => undefined, message: () => undefined };

/** In characters. A shorter key may occur in any text by chance. */
const shortestSecret = 8;

/** A client made from the contract table and the admin's overrides. */
export class Client implements Api {
  readonly organizationId: string;
  readonly baseUrl: string;
  readonly service: string;
  readonly urlNote: string | undefined;
  readonly limiter: RateLimiter;
  private readonly notedRoutes = new Set<string>();
  private readonly workingRoutes = new Set<string>();
  private readonly origin: string;

  private readonly drift: Drift;
  constructor(private readonly options: ApiOptions) {
    const { organizationId, baseUrl, service = baseUrl, urlNote } = options.connection;
    this.organizationId = organizationId;
    this.baseUrl = baseUrl;
    this.service = service;
    this.urlNote = urlNote;
    this.origin = new URL(this.baseUrl).origin;
    this.limiter = options.limiter;
    this.drift = createDrift(options.notes, options.strict);
  }

  get driftOfChange() {
    return this.drift.ofChange;
  }

  isKey(text: string): boolean {
    const { key } = this.options.connection;
    if (key === undefined) return false;
    return key.length < shortestSecret ? text === key : text.includes(key);
  }

  describe(call: Call): PlannedRequest {
    const { route, path, body } = this.resolve(call);
    return {
      method: route.method,
      path,
      basis: route.source === 'stated' ? 'stated' : 'assumed',
      ...(body !== undefined && { body }),
    };
  }

  noteAssumedRoute(call: Call): void {
    const route = this.route(call);
    const name = callName(route);
    if (route.source !== 'assumed' || this.notedRoutes.has(name)) return;
    this.notedRoutes.add(name);
    this.options.onAssumedRoute(
      name,
      `${undocumented(endpoint(call.endpoint))}; rosterctl uses ${withPlainId(name).replace('{id}', 'ID')}. See: rosterctl help undocumented`,
    );
  }

  send(call: Call): Promise<Answer> {
    return this.answerOf(call, (request) => this.options.transport.request(request));
  }

  sendOnce(call: Call, isFresh: () => boolean): Promise<Answer> {
    return this.answerOf(call, (request) => this.options.transport.requestOnce(request, isFresh));
  }

  private async answerOf(call: Call, send: Send): Promise<Answer> {
    const resolved = this.resolve(call);
    const { row, site } = resolved;
    const needsJson = ['list', 'record', 'grant'].includes(row.answers);
    const response = await this.exchange(call, resolved, send, { needsJson });
    const { origin, organizationId } = this;
    // The record of a write is read again, so that a text such as "OK" is enough for it, but not JSON
    // that was cut off. Only the answer to a create names its record.
    const isRead = requestKind(site.method, site.path) !== 'write';
    const needsBody =
      row.verb === 'create' ||
      (isRead
        ? needsJson
        : site.method !== 'DELETE' &&
          isBrokenJson(response.body, response.headers['content-type']));
    const body =
      row.answers === 'list'
        ? listBodyOf(response, { call: site, origin })
        : response.body.length > 0 || needsBody
          ? bodyOfAnswer(response, { call: site, origin, needsJson: needsBody })
          : undefined;
    const record = this.recordIn(body, row.resource, idParameter(call.params));
    checkAnswer(this.drift, { call, row, site, organizationId }, body, record);
    const { status, headers, at } = response;
    return { status, headers, body, record, at };
  }

  recordIn(body: unknown, resource: ResourceName, asked?: string): JsonObject | undefined {
    // Where ids are numbers, a record may have the same id as the organization.
    const organizationId = asked === this.organizationId ? undefined : this.organizationId;
    return findRecord(body, { resource, idName: this.idNameOf(resource), organizationId });
  }

  private idNameOf(resource: ResourceName): string | undefined {
    return configured(this.options.overrides, `ids.${resource}`);
  }

  async record(call: Call) {
    const answer = await this.send(call);
    const { record, status, at } = answer;
    if (record) return { record, at, cachedFor: secondsInCache(answer) };
    const site = siteOf(this.route(call));
    throw new ProtocolError(
      `The answer to ${site.method} ${site.path} (${status}) contains no record with an id.`,
      {
        call: site,
        status,
        code: answer.body === null ? emptyAnswer : undefined,
        hint: 'See how it sends records: rosterctl doctor --shapes',
      },
    );
  }

  async link(call: Call) {
    const { origin } = this;
    const { overrides, instant, transport } = this.options;
    const resolved = this.resolve(call);
    const { row, path, site } = resolved;
    const send: Send = (request) => transport.request(request);
    const { findLink, isCutJson, missingLink } = await import('./links.js');
    const linkCall = () =>
      ({
        requestUrl: new URL(`${this.baseUrl}${path}`),
        baseUrl: this.baseUrl,
        verb: row.verb === 'preview' ? 'preview' : 'download',
        urlPath: overrides['download.urlPath'],
        now: new Date(instant().wall),
      }) as const;
    const response = await this.exchange(call, resolved, send, {
      redirectIsData: true,
      // A file that was just uploaded may not be there yet.
      isPending: (reply) =>
        isCutJson(reply) || (reply.status === 202 && !findLink(reply, linkCall())),
    });
    const link = findLink(response, linkCall());
    if (link) return link;
    // Throws for a body that is not JSON, such as a web page, with an error that does not quote it.
    if (response.status < 300 && response.status !== 202)
      bodyOfAnswer(response, { call: site, origin, needsJson: true });
    throw missingLink(response, linkCall(), site);
  }

  route(call: Call): Route {
    return routeOf(endpoint(call.endpoint), this.options.overrides, call.route);
  }

  hasWorked(call: Call) {
    return this.workingRoutes.has(callName(this.route(call)));
  }

  list(
    resource: ResourceName,
    query: { readonly [name: string]: string } = {},
    how: ListOptions = {},
  ) {
    const { baseUrl, organizationId, drift } = this;
    const { overrides = this.options.overrides, isQuiet = false } = how;
    const call = { endpoint: resources[resource].calls.list };
    if (!isQuiet) this.noteAssumedRoute(call);
    return listRecords(resource, {
      ...this.options,
      drift,
      ...(isQuiet && { notes: noNotes, strict: false, drift: createDrift(noNotes, false) }),
      ...how,
      route: routeOf(endpoint(call.endpoint), overrides),
      baseUrl,
      organizationId,
      overrides,
      query,
    });
  }

  raw(request: Parameters<Api['raw']>[0]) {
    return this.options.transport.request(request);
  }

  private resolve(call: Call): ResolvedCall {
    const { organizationId } = this;
    const { params = {} } = call;
    const row = endpoint(call.endpoint);
    const route = this.route(call);
    const writes = row.verb === 'update' || row.verb === 'delete';
    if (writes && idParameter(params) === organizationId)
      throw new UsageError('This id is the organization itself; it is never updated or deleted.');
    const filled = fillPath(route, params, organizationId);
    const isList = row.verb === 'list';
    const path = isList ? withListQuery(filled, row.resource, this.options.overrides) : filled;
    return { row, route, path, body: this.bodyFor(call, route), site: siteOf({ ...route, path }) };
  }

  /** Sends a call. Throws the failure in its response. */
  private async exchange(
    call: Call,
    { row, route, path, body, site }: ResolvedCall,
    send: Send,
    options: Pick<TransportRequest, 'needsJson' | 'redirectIsData' | 'isPending'>,
  ): Promise<TransportResponse> {
    this.noteAssumedRoute(call);
    const { method, template } = route;
    const response = await send({
      method,
      path,
      template,
      body: body && printJson(body),
      ...options,
    });
    const failure = failureOf(response, site, { idName: this.idNameOf(row.resource) });
    if (failure) throw failure;
    this.workingRoutes.add(callName(route));
    return response;
  }

  private bodyFor({ body }: Call, { org }: Route): JsonObject | undefined {
    if (org !== 'body') return body;
    const { organizationId } = this;
    const given = body?.['organizationId'];
    if (given !== undefined && plainText(given) !== organizationId)
      throw new UsageError('The body names another organization, not the one in use.', {
        hint: 'Leave organizationId out of it, or choose the profile of that organization with -p.',
      });
    return { organizationId, ...body };
  }
}

function callName({ method, template }: Route): string {
  return `${method} ${template}`;
}
