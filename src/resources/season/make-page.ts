/** Makes the page of `report` from the list of applications. */
import type { Context } from '../../context.js';
import { timeOf } from '../../data/dates.js';
import { GuardError, withShapes } from '../../errors.js';
import { type TallyValues, tallyTryouts } from '../tryout-tally.js';
import { seasonCharts } from './charts.js';
import type { SeasonTryout } from './drawn.js';
import { checkField, isName, namesPersons } from './field-chart.js';
import { isSmall } from './groups.js';
import type { SeasonPage } from './page.js';
import { filterWords } from './words.js';

/**
 * Reads the applications and returns their page. Throws UsageError for a field that must not or cannot
 * be shown, GuardError if the list may be incomplete.
 */
export async function makeSeasonPage(
  context: Context,
  values: TallyValues,
  isExact: boolean,
): Promise<SeasonPage> {
  const { api, table } = context;
  const madeAt = context.now();
  for (const field of values.by ?? []) checkField(field);
  const tryouts: SeasonTryout[] = [];
  const list = api.list('tryouts', {}, { checksCompleteness: true });
  /** The fields, by their index, of which a value names somebody. */
  const naming = new Set<number>();
  const tally = await tallyTryouts(context, list, values, (counted, record) => {
    tryouts.push({ ...counted, updated: timeOf(String(record['updatedAt'])) });
    for (const [index, { ofField, ofQuestion }] of counted.values.entries())
      if ([...ofField, ...ofQuestion].some((value) => isName(value, record))) naming.add(index);
  });
  const completeness = list.completeness();
  if (completeness.state === 'doubtful')
    throw new GuardError(
      `The list of tryouts may be incomplete: ${completeness.reason}. Nothing was written.`,
      { code: 'incomplete', hint: withShapes(completeness.fixes) },
    );
  const { total } = tally.stats;
  for (const [index, { name }] of tally.fields.entries()) {
    checkField(name);
    if (naming.has(index)) throw namesPersons(name);
  }
  const fields = tally.fields.map((field) => ({
    name: field.name,
    valuesIn: field.valuesIn.bind(field),
  }));
  const isFew = isSmall(total) && !isExact;
  return {
    organization: api.organizationId,
    total: isFew ? 'few' : total,
    filters: filterWords(values, madeAt),
    charts: isFew || total === 0 ? [] : seasonCharts(tryouts, fields, isExact),
    isExact,
    madeAt,
    version: table.version,
  };
}
