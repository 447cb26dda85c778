/** The words of each resource, which settings and messages import. `api/resources.ts` adds what the contract table has of it. */

export const resourceWords = {
  teams: {
    noun: 'team',
    plural: 'teams',
    path: '/teams',
    idName: 'teamId',
    order: 'name',
    columns: ['id', 'name'],
    references: { name: undefined },
    ifNone: 'Create one: rosterctl teams create --name NAME',
    overrides: { update: 'PATCH /teams/{teamId}', delete: 'DELETE /teams/{teamId}' },
  },
  players: {
    noun: 'player',
    plural: 'players',
    path: '/players',
    idName: 'playerId',
    order: 'name',
    columns: ['id', 'name'],
    references: { email: undefined, name: undefined, discord: undefined, tag: undefined },
    ifNone: 'Create one: rosterctl players create --name NAME',
    overrides: { update: 'PATCH /players/{playerId}', delete: 'DELETE /players/{playerId}' },
  },
  documents: {
    noun: 'document',
    plural: 'documents',
    path: '/documents',
    idName: 'documentId',
    order: 'name',
    columns: ['id', 'name', 'contentType', 'sizeBytes', 'tags'],
    references: { name: undefined },
    ifNone: 'Upload one: rosterctl documents upload FILE',
    overrides: {
      update: 'PATCH /documents/{documentId}',
      delete: 'DELETE /documents/{documentId}',
    },
    completed: ['tags', 'contentType'],
  },
  tryouts: {
    noun: 'application',
    plural: 'applications',
    otherNames: ['tryoutapplication', 'tryoutapplications', 'tryout', 'tryouts'],
    path: '/tryout-applications',
    idName: 'applicationId',
    order: '-submittedAt',
    columns: [
      'id',
      'status',
      'name',
      'email',
      'submittedAt',
      'discordUsername',
      'gamerTags',
      'internalNotes',
      'convertedPlayerId',
      'updatedAt',
    ],
    references: {
      email: ['email'],
      name: ['name'],
      discord: ['discordUserId', 'discordUsername'],
      tag: ['gamerTags.gamerTag'],
    },
    eventField: 'status',
    ifNone: 'They appear here once someone has submitted a tryout form.',
    ifConflict: {
      why: 'The e-mail or Discord user is already used on another application for the same form.',
      see: 'rosterctl check --only duplicate.email,duplicate.discord',
    },
    overrides: {},
    completed: ['gamerTags.game', 'formResponses'],
  },
} as const satisfies { readonly [resource: string]: ResourceWords };

/** The kinds of references that are looked up in a list. */
export type LookedUpKind = 'email' | 'name' | 'discord' | 'tag';

/** The words for a resource, and the routes that an admin may override. */
export interface ResourceWords {
  readonly noun: string;
  readonly plural: string;
  /** Its names in an envelope besides these two: lower-case letters and digits, best first. */
  readonly otherNames?: readonly string[];
  /** The prefix of its endpoints' paths. */
  readonly path: string;
  /** The id's name in the contract's paths. */
  readonly idName: string;
  /** The field that the usual order is by; `-` for descending. */
  readonly order: string;
  /** The columns of a table in a pipe. Scripts rely on them: new ones are only ever added at the end. */
  readonly columns: readonly string[];
  /** The references that find a record, and the fields of each: those of the contract (2.1), or undefined for the obvious names. */
  readonly references: { readonly [K in LookedUpKind]?: readonly string[] | undefined };
  /** The field whose change emits events for the organization's Flows (contract section 6). */
  readonly eventField?: string;
  /** The next step if there are no records at all. */
  readonly ifNone: string;
  /** Why an update is refused with 409, if the service does not say, and the command that shows it. */
  readonly ifConflict?: { readonly why: string; readonly see: string };
  /**
   * The assumed routes, `METHOD /path`, by the last word of the setting that replaces each,
   * `endpoints.<resource>.<word>`; the contract table takes them from here.
   */
  readonly overrides: { readonly [action: string]: string };
  /** The fields whose values a TAB offers, of an object its keys: nothing about a person. */
  readonly completed?: readonly string[];
}

/** The name of a resource. */
export type ResourceName = keyof typeof resourceWords;

/** A setting that overrides an assumed route: `endpoints.teams.update`. */
export type OverrideKey = {
  [R in ResourceName]: `endpoints.${R}.${string & keyof (typeof resourceWords)[R]['overrides']}`;
}[ResourceName];

/** The resources in the order in which they are listed. */
export const resourceNames = Object.keys(resourceWords) as readonly ResourceName[];

/** Returns the kinds of references that a resource knows, apart from ids. */
export function referenceKindsOf(resource: ResourceName): readonly LookedUpKind[] {
  return Object.keys(resourceWords[resource].references) as LookedUpKind[];
}

/** The field of a resource whose change emits events; undefined if there is none. */
export function eventFieldOf(resource: string | undefined): string | undefined {
  const words: ResourceWords | undefined = resourceWords[resource as ResourceName];
  return words?.eventField;
}

/** Says that a list may lack records, and why, as a sentence. */
export function incompleteList(resource: ResourceName, reason: string): string {
  return `The list of ${resourceWords[resource].plural} may be incomplete: ${reason}.`;
}

/** Returns an object with a value for each resource. */
export function perResource<T>(valueOf: (name: ResourceName) => T): { [R in ResourceName]: T } {
  const entries = resourceNames.map((name) => [name, valueOf(name)] as const);
  return Object.fromEntries(entries) as { [R in ResourceName]: T };
}

/** An admin's replacements of assumptions: settings by their key, such as `endpoints.teams.update`. */
export type Overrides = { readonly [key: string]: string };
