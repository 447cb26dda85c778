import type { JsonObject } from '../data/json.js';
import { type Fault, type FaultRule, parseFaultRule, type Port } from './fault-rule.js';

/** One request as the sandbox saw it and what was done to it; never a body, a key or a query. */
export interface RequestRecord {
  /** From 1, in the order of arrival over both ports. */
  readonly number: number;
  readonly port: Port;
  readonly method: string;
  readonly path: string;
  /** The rule that struck, as it was given; null for an ordinary answer. */
  readonly fault: string | null;
  /** Whether the request was carried out; null while nobody knows. */
  applied: boolean | null;
}

/** The faults of a running sandbox and the requests that met them. */
export interface Faults {
  /** Notes an arriving request and finds the first rule that strikes it. */
  arrive(
    port: Port,
    method: string,
    path: string,
  ): { readonly record: RequestRecord; readonly fault: Fault | undefined };
  /** Replaces all rules; their counting begins anew. Throws UsageError for one that cannot be read. */
  replace(rules: readonly string[]): void;
  /** Each rule and how many requests fitted its method and route so far. */
  rules(): readonly { readonly rule: string; readonly requests: number }[];
  /** The newest requests, oldest first. */
  requests(): readonly RequestRecord[];
}

const keptRequests = 10_000;

/** Faults by rules such as `PATCH /tryout-applications/* #2 close-after` (see `parseFaultRule`). */
export function createFaults(rules: readonly string[]): Faults {
  let counted = read(rules);
  let arrived = 0;
  const records: RequestRecord[] = [];
  return {
    arrive(port, method, path) {
      let struck: FaultRule | undefined;
      for (const each of counted) {
        if (!each.rule.fits(port, method, path)) continue;
        each.requests += 1;
        if (each.rule.strikes(each.requests)) struck ??= each.rule;
      }
      arrived += 1;
      const fault = struck?.text ?? null;
      const record: RequestRecord = { number: arrived, port, method, path, fault, applied: null };
      records.push(record);
      if (records.length > keptRequests) records.shift();
      return { record, fault: struck?.fault };
    },
    replace(texts) {
      counted = read(texts);
    },
    rules: () => counted.map(({ rule, requests }) => ({ rule: rule.text, requests })),
    requests: () => records,
  };
}

/** The rules in the body of an admin request: `{"faults": ["…"]}`; undefined when it holds none. */
export function faultsIn(body: JsonObject): readonly string[] | undefined {
  const { faults } = body;
  return Array.isArray(faults) && faults.every((each) => typeof each === 'string')
    ? faults
    : undefined;
}

function read(rules: readonly string[]) {
  return rules.map((text) => ({ rule: parseFaultRule(text), requests: 0 }));
}
