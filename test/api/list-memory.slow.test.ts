import { once } from 'node:events';
import { expect, test } from 'vitest';
import { organization, recordingService } from '../support/service.js';
import { withUsage } from '../support/usage.js';

const application = (index: number) =>
  JSON.stringify({
    id: `app_${index}`,
    organizationId: organization,
    status: 'pending',
    name: `Ann ${index}`,
    email: `ann${index}@example.org`,
    formResponses: { why: 'x'.repeat(700) },
    gamerTags: [],
    submittedAt: '2026-01-01T00:00:00Z',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  });

/** One response with that many applications, written as fast as it is read. */
function serviceWith(count: number) {
  return recordingService(() => (_, response) => {
    response.setHeader('content-type', 'application/json');
    const write = async () => {
      response.write('[');
      for (let from = 0; from < count && !response.destroyed; from += 500) {
        const part = Array.from({ length: Math.min(500, count - from) }, (__, index) =>
          application(from + index),
        ).join(',');
        if (!response.write(from === 0 ? part : `,${part}`)) await once(response, 'drain');
      }
      response.end(']');
    };
    write().catch(() => undefined);
  });
}

/** Runs the program over a list; returns its lines and its peak memory in MiB. */
async function peakOf(count: number, format: string) {
  const { env } = await serviceWith(count);
  const { code, stdout, stderr, peak } = await withUsage(`tryouts list -o ${format}`, { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines.pop()).toBe('');
  return { lines, peak };
}

// All at once, the text and its objects would take over 500 MiB; a busy machine collects garbage
// late.
test.for(['ndjson', 'ids', 'table'])(
  '100,000 records as %s are complete and never in memory at once',
  { timeout: 120_000 },
  async (format, { skip }) => {
    skip(process.platform !== 'linux', 'the peak of the memory is read as Linux tells it');
    const few = await peakOf(1001, format);
    const many = await peakOf(100_000, format);
    const header = format === 'table' ? 1 : 0;
    expect(many.lines).toHaveLength(100_000 + header);
    expect(many.lines.at(-1)).toContain('app_99999');
    expect(many.peak).toBeLessThan(220);
    expect(many.peak - few.peak).toBeLessThan(140);
  },
);
