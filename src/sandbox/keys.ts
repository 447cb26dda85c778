/** The API keys of the sandbox, and what each of them permits (contract section 5). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Endpoint, ResourceName } from '../api/contract.js';

/** The organization of the demo data. */
export const demoOrganization = 'org_demo';
/** An organization without data, for a key of another organization. */
const otherOrganization = 'org_other';

export interface Grant {
  readonly organizationId: string;
  /** Whether the organization's plan includes API access (5.3). */
  readonly hasPlan: boolean;
  readonly allows: (permission: string) => boolean;
}

const grants = {
  full: { organizationId: demoOrganization, hasPlan: true, allows: () => true },
  read_only: {
    organizationId: demoOrganization,
    hasPlan: true,
    allows: (permission) => permission.endsWith(':read'),
  },
  no_documents: {
    organizationId: demoOrganization,
    hasPlan: true,
    allows: (permission) => !permission.startsWith('document:'),
  },
  no_plan: { organizationId: demoOrganization, hasPlan: false, allows: () => true },
  other_org: { organizationId: otherOrganization, hasPlan: true, allows: () => true },
} as const satisfies Record<string, Grant>;

export type KeyName = keyof typeof grants;

/** The keys by name, the same as long as the secret is kept. */
export function keysOf(secret: string): { readonly [N in KeyName]: string } {
  const ending = createHmac('sha256', secret).update('keys').digest('hex').slice(0, 16);
  const entries = Object.keys(grants).map((name) => [name, `sandbox_${name}_${ending}`]);
  return Object.fromEntries(entries) as { [N in KeyName]: string };
}

/** Looks up what a key permits; undefined for an unknown key. */
export function newKeyRing(secret: string): (key: string) => Grant | undefined {
  const known = new Map<string, Grant>();
  for (const [name, key] of Object.entries(keysOf(secret))) known.set(key, grants[name as KeyName]);
  return (key) => known.get(key);
}

const singular: { readonly [R in ResourceName | 'uploads']: string } = {
  teams: 'team',
  players: 'player',
  documents: 'document',
  uploads: 'document',
  tryouts: 'tryout',
};

/** The permission that a call needs: the contract's where it names one, else `resource:action`. */
export function permissionOf(row: Endpoint): string {
  return row.permission ?? `${singular[row.resource]}:${actionOf(row)}`;
}

function actionOf({ verb, route }: Endpoint): string {
  if (route.startsWith('GET ')) return 'read';
  return verb === 'other' ? 'update' : verb;
}

/** Compares two texts in constant time. */
export function isSameSecret(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
