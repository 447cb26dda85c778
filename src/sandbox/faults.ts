/** The fault rules of a running sandbox, and the requests that it has received. */
import type { JsonObject } from '../data/json.js';
import { type Fault, type FaultRule, type Port, parseFaultRule } from './fault-rule.js';

/** One request and the fault that was applied to it; never a body, a key or a query. */
export interface RequestRecord {
  /** From 1, in the order of arrival over both ports. */
  readonly number: number;
  readonly port: Port;
  readonly method: string;
  readonly path: string;
  /** The text of the applied rule; null for an ordinary answer. */
  readonly fault: string | null;
  /** True when the request was carried out; null while it is being answered. */
  applied: boolean | null;
}

export interface Faults {
  /** Records a request and finds the first rule that applies to it. */
  register(
    port: Port,
    method: string,
    path: string,
  ): { readonly record: RequestRecord; readonly fault: Fault | undefined };
  /** Replaces all rules and resets their counts. Throws UsageError for an invalid one. */
  replace(rules: readonly string[]): void;
  /** Each rule, and how many requests have matched its method and route. */
  rules(): readonly { readonly rule: string; readonly requests: number }[];
  /** The newest requests, oldest first. */
  requests(): readonly RequestRecord[];
}

const keptRequests = 10_000;

/** Faults by rules such as `PATCH /tryout-applications/* #2 close-after` (see `parseFaultRule`). */
export function createFaults(rules: readonly string[]): Faults {
  let counted = read(rules);
  let received = 0;
  const records: RequestRecord[] = [];
  return {
    register(port, method, path) {
      let applied: FaultRule | undefined;
      for (const each of counted) {
        if (!each.rule.matches(port, method, path)) continue;
        each.requests += 1;
        if (each.rule.appliesTo(each.requests)) applied ??= each.rule;
      }
      received += 1;
      const fault = applied?.text ?? null;
      const record: RequestRecord = { number: received, port, method, path, fault, applied: null };
      records.push(record);
      if (records.length > keptRequests) records.shift();
      return { record, fault: applied?.fault };
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
