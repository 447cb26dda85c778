/** The API client: sends the contract's calls through a transport and checks what comes back. */
import { type JsonObject, printJson } from '../data/json.js';
import type { Overrides } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import { ProtocolError, UsageError } from '../errors.js';
import { bodyOf, failureOf } from './answers.js';
import { endpoint } from './contract.js';
import { checkAnswer, createDrift, type Drift } from './drift.js';
import type { RateLimiter } from './rate-limiter.js';
import { configured, listRecords } from './record-list.js';
import { findRecord } from './records.js';
import { requestKind } from './retry.js';
import { fillPath, idParameter, type Route, routeOf, undocumented } from './routes.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';
import type {
  Answer,
  Api,
  ApiNotes,
  Call,
  ListOptions,
  PlannedRequest,
  ResourceName,
} from './types.js';

interface ApiOptions {
  readonly connection: {
    readonly baseUrl: string;
    readonly organizationId: string;
    readonly service?: string;
    readonly urlNote?: string;
    readonly keySource?: string;
    readonly key?: string;
  };
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

type Send = (request: TransportRequest) => Promise<TransportResponse>;

/** Creates a client from the contract table and the admin's overrides. */
export function createApi(options: ApiOptions): Api {
  return new Client(options, createDrift(options.notes, options.strict));
}

const noNotes: ApiNotes = { note: () => undefined, drift: () => undefined, warn: () => undefined };

/** In characters. A shorter key may occur in any text by chance. */
const shortestSecret = 8;

class Client implements Api {
  readonly organizationId: string;
  readonly baseUrl: string;
  readonly service: string;
  readonly urlNote: string | undefined;
  readonly keySource: string | undefined;
  readonly limiter: RateLimiter;
  private readonly notedGuesses = new Set<string>();
  private readonly workingRoutes = new Set<Route>();
  private readonly routes = new Map<string, Route>();
  private readonly origin: string;

  constructor(
    private readonly options: ApiOptions,
    private readonly drift: Drift,
  ) {
    const { organizationId, baseUrl, service = baseUrl, urlNote, keySource } = options.connection;
    this.organizationId = organizationId;
    this.baseUrl = baseUrl;
    this.service = service;
    this.urlNote = urlNote;
    this.keySource = keySource;
    this.origin = new URL(this.baseUrl).origin;
    this.limiter = options.limiter;
  }

  isKey(text: string): boolean {
    const { key } = this.options.connection;
    if (key === undefined) return false;
    return key.length < shortestSecret ? text === key : text.includes(key);
  }

  describe(call: Call): PlannedRequest {
    const route = this.routeFor(call);
    const body = this.bodyFor(call, route);
    return {
      method: route.method,
      path: this.pathFor(call, route),
      basis: route.source === 'stated' ? 'stated' : 'assumed',
      ...(body !== undefined && { body }),
    };
  }

  noteAssumedRoute(call: Call): void {
    this.noteAssumed(call, this.routeFor(call));
  }

  send(call: Call): Promise<Answer> {
    return this.answerOf(call, (request) => this.options.transport.request(request));
  }

  sendOnce(call: Call, isFresh: () => boolean): Promise<Answer> {
    return this.answerOf(call, (request) => this.options.transport.requestOnce(request, isFresh));
  }

  private async answerOf(call: Call, send: Send): Promise<Answer> {
    const row = endpoint(call.endpoint);
    const needsJson = ['list', 'record', 'grant'].includes(row.answers);
    const response = await send(this.requestFor(call, { needsJson }));
    this.checkResponse(response, call);
    const site = siteOf(this.routeFor(call));
    const { origin } = this;
    // A response that the contract does not show may be empty. Anything else than JSON leaves the
    // outcome of a write unknown.
    const isWrite = site.method !== 'DELETE' && requestKind(site.method, site.path) === 'write';
    const body =
      response.body.length > 0 || needsJson
        ? bodyOf(response, { call: site, origin, needsJson: needsJson || isWrite })
        : undefined;
    const { resource } = row;
    const record = resource === 'uploads' ? undefined : this.recordIn(body, resource);
    checkAnswer(this.drift, { call, row, site, organizationId: this.organizationId }, body, record);
    const { status, headers, at } = response;
    return { status, headers, body, record, at };
  }

  recordIn(body: unknown, resource: ResourceName): JsonObject | undefined {
    const { organizationId } = this;
    return findRecord(body, { resource, idName: this.idNameOf(resource), organizationId });
  }

  private idNameOf(resource: ResourceName): string | undefined {
    return configured(this.options.overrides, `ids.${resource}`);
  }

  async record(call: Call): Promise<JsonObject> {
    return (await this.recordAt(call)).record;
  }

  async recordAt(call: Call) {
    const { resource } = endpoint(call.endpoint);
    const answer = await this.send(call);
    const { status, at } = answer;
    const record = resource === 'uploads' ? (answer.body as JsonObject) : answer.record;
    if (record) return { record, at };
    const site = siteOf(this.routeFor(call));
    throw new ProtocolError(
      `The answer of ${site.method} ${site.path} (${status}) contains no record with an id.`,
      { call: site, status },
    );
  }

  async link(call: Call) {
    const route = this.routeFor(call);
    const request = this.requestFor(call, { redirectIsData: true });
    const response = await this.options.transport.request(request);
    this.checkResponse(response, call);
    const { overrides, instant } = this.options;
    const { findLink, missingLink } = await import('./links.js');
    const linkCall = {
      requestUrl: new URL(`${this.baseUrl}${this.pathFor(call, route)}`),
      baseUrl: this.baseUrl,
      verb: endpoint(call.endpoint).answers === 'preview' ? 'preview' : 'download',
      urlPath: overrides['download.urlPath'],
      now: new Date(instant().wall),
    } as const;
    const link = findLink(response, linkCall);
    if (link) return link;
    const { origin } = this;
    // Never print the text of an HTML page; `bodyOf` also words the error for that case.
    if (response.status < 300) bodyOf(response, { call: siteOf(route), origin, needsJson: true });
    throw missingLink(response, linkCall, siteOf(route));
  }

  route(call: Call) {
    return this.routeFor(call);
  }

  hasWorked(call: Call) {
    return this.workingRoutes.has(this.routeFor(call));
  }

  list(
    resource: Parameters<Api['list']>[0],
    query: Parameters<Api['list']>[1] = {},
    {
      onHeaders,
      overrides = this.options.overrides,
      isQuiet = false,
      checksCompleteness = false,
      until,
    }: ListOptions = {},
  ) {
    const { transport } = this.options;
    const { baseUrl, organizationId } = this;
    const { notes, strict, drift } = isQuiet
      ? { notes: noNotes, strict: false, drift: createDrift(noNotes, false) }
      : { ...this.options, drift: this.drift };
    return listRecords(resource, {
      ...{
        baseUrl,
        organizationId,
        transport,
        overrides,
        drift,
        notes,
        strict,
        query,
        onHeaders,
        checksCompleteness,
        until,
      },
    });
  }

  raw(request: Parameters<Api['raw']>[0]) {
    return this.options.transport.request(request);
  }

  private requestFor(
    call: Call,
    options: Pick<TransportRequest, 'needsJson' | 'redirectIsData'>,
  ): TransportRequest {
    const route = this.routeFor(call);
    const path = this.pathFor(call, route);
    const body = this.bodyFor(call, route);
    this.noteAssumed(call, route);
    const { method, template } = route;
    return { method, path, template, body: body && printJson(body), ...options };
  }

  /** Throws the failure in a response. */
  private checkResponse(response: TransportResponse, call: Call): void {
    const route = this.routeFor(call);
    const { resource } = endpoint(call.endpoint);
    const idName = resource === 'uploads' ? undefined : this.idNameOf(resource);
    const failure = failureOf(response, siteOf(route), { idName });
    if (failure) throw failure;
    this.workingRoutes.add(route);
  }

  /** Resolves each route once, because a bulk run needs the same two thousands of times. */
  private routeFor({ endpoint: name, route: override }: Call): Route {
    const key = override === undefined ? name : `${name} ${override}`;
    const route = this.routes.get(key) ?? routeOf(endpoint(name), this.options.overrides, override);
    this.routes.set(key, route);
    return route;
  }

  private pathFor(call: Call, route: Route): string {
    const { verb } = endpoint(call.endpoint);
    if (
      (verb === 'update' || verb === 'delete') &&
      idParameter(call.params) === this.organizationId
    )
      throw new UsageError('This id is the organization itself; it is never updated or deleted.');
    return fillPath(route, call.params ?? {}, this.organizationId);
  }

  private bodyFor(call: Call, route: Route): JsonObject | undefined {
    if (route.org !== 'body') return call.body;
    const { organizationId } = this;
    const { organizationId: bodyOrganizationId, ...rest } = call.body ?? {};
    if (bodyOrganizationId !== undefined && bodyOrganizationId !== organizationId)
      throw new UsageError('The body names another organization than the one in force.', {
        hint: 'Leave organizationId out of it, or choose the profile of that organization with -p.',
      });
    return { organizationId, ...rest };
  }

  /** Notes an assumed route once per run, until the admin names the route. */
  private noteAssumed(call: Call, { source, method, template }: Route): void {
    const route = `${method} ${template}`;
    if (source !== 'assumed' || this.notedGuesses.has(route)) return;
    this.notedGuesses.add(route);
    const shown = `${method} ${template.replace(/\{\w+\}/, 'ID')}`;
    this.options.onAssumedRoute(
      route,
      `${undocumented(endpoint(call.endpoint))}; rosterctl uses ${shown}. See: rosterctl help undocumented`,
    );
  }
}

function siteOf({ method, template }: Route): { method: string; path: string } {
  return { method, path: template };
}
