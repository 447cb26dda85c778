import type { TryoutStatus } from '../api/schemas.js';
import { perResource, type ResourceName, resourceWords } from '../data/resources.js';

/**
 * What the sandbox does where the contract is silent. Nothing here is the
 * service's behaviour; `inventions.ts` tells it to people.
 */
export interface Personality {
  /** The key of the array in a list answer. */
  readonly listKeys: { readonly [R in ResourceName]: string };
  readonly createdStatus: number;
  readonly deletedStatus: number;
  /** How long a signed download or preview URL works, in milliseconds. */
  readonly linkMs: number;
  /** How long a signed upload URL works, in milliseconds. */
  readonly uploadMs: number;
  /** The largest file, in bytes. */
  readonly maxBytes: number;
  /** The statuses whose arrival is a decline (contract section 6 does not show them). */
  readonly declined: readonly TryoutStatus[];
  /**
   * A status in an update emits its events also when it is the one that stands there already: the
   * worst that a service may do, for tests of what must not happen twice.
   */
  readonly strictEvents: boolean;
  /** Error codes that the contract does not show (section 7). */
  readonly codes: {
    readonly notFound: string;
    readonly conflict: string;
    readonly alreadyConverted: string;
    readonly methodNotAllowed: string;
    readonly fileTooLarge: string;
    readonly payloadTooLarge: string;
    readonly internalError: string;
  };
}

/** The one personality there is so far. */
export const defaultPersonality: Personality = {
  listKeys: perResource((name) => resourceWords[name].plural),
  createdStatus: 201,
  deletedStatus: 204,
  linkMs: 5 * 60_000,
  uploadMs: 15 * 60_000,
  maxBytes: 25 * 1024 * 1024,
  declined: ['rejected'],
  strictEvents: false,
  codes: {
    notFound: 'notFound',
    conflict: 'conflict',
    alreadyConverted: 'alreadyConverted',
    methodNotAllowed: 'methodNotAllowed',
    fileTooLarge: 'fileTooLarge',
    payloadTooLarge: 'payloadTooLarge',
    internalError: 'internalError',
  },
};
