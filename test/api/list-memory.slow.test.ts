import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { organization, recordingService } from '../support/service.js';

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

const folder = temporaryFolder();
const preload = join(folder, 'peak.cjs');
writeFileSync(
  preload,
  `const fs = require('node:fs');
  process.on('exit', () => {
    const [, kibibytes] = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'));
    fs.writeFileSync(process.env.PEAK_FILE, kibibytes);
  });`,
);

/**
 * Runs the program over a list; returns its peak memory in MiB (resourceUsage would include the
 * parent).
 */
async function peakOf(count: number, format: string) {
  const { env } = await serviceWith(count);
  const peakFile = join(folder, `${count}-${format}`);
  const { code, stdout, stderr } = await rosterctl(`tryouts list -o ${format}`, {
    env: { ...env, NODE_OPTIONS: `--require ${preload}`, PEAK_FILE: peakFile },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines.pop()).toBe('');
  return { lines, peak: Number(readFileSync(peakFile, 'utf8')) / 1024 };
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
