/** `rosterctl documents open`: opens the file of a document with the desktop's own program. */

import { callFor } from '../../api/resources.js';
import { type DryRun, defineCommand } from '../../cli/define.js';
import { fileLines } from '../../cli/lines.js';
import { linesView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { binarySize } from '../../data/text.js';
import {
  type DownloadRow,
  downloadDocuments,
  downloadFlags,
} from '../../downloads/download-documents.js';
import type { SavedRow } from '../../downloads/download-one.js';
import { copyPrivately, requireOpenable } from '../../downloads/private-copy.js';
import { documentsNamed, type NamedDocument, withRecords } from '../../downloads/target-names.js';
import { idArg } from '../../resources/params.js';
import { openObstacle, openWithDesktop } from '../../terminal/other-programs.js';
import { singleLine } from '../../terminal/safe-text.js';

/** A copy of a document, and whether it was opened; with --url its row. */
type Result = (SavedRow & { readonly opened: boolean }) | DownloadRow | DryRun;

export default defineCommand({
  summary: 'Open a document',
  about:
    "Downloads the file to a private folder and opens it with your desktop's program for its type. The copy is " +
    'read-only and docs open removes it once it is older than a day. Without a display, or over SSH, the path is printed instead. ' +
    'Only the types that can be uploaded are opened.',
  examples: [
    ['Look at a contract', 'doc_0001'],
    ['By its name', 'name:NDA.docx'],
    ['The signed URL alone, for a browser', 'doc_0001 --url'],
  ],
  calls: ['listDocuments', 'downloadDocument'],
  args: { id: idArg('documents') },
  flags: { url: downloadFlags.url },
  hasSideEffects: true,
  view: linesView((value: Result, canvas) => {
    if ('dryRun' in value) return fileLines(value, canvas);
    if ('url' in value) return [singleLine(value.url)];
    if (!('opened' in value) || !value.opened || !canvas.isTerminal)
      return [singleLine(value.path)];
    const name = value.path.split(/[/\\]/).at(-1) ?? '';
    return [`Opened ${singleLine(name)} (${binarySize(value.bytes)}), a read-only copy.`];
  }),
  async run(context, { id: word, url }): Promise<Result> {
    const rows = await documentsNamed(context, [word]);
    if (url) {
      const signed = downloadDocuments(context, 'download', rows, { url }, true);
      return (await signed) as DownloadRow;
    }
    const [document] = await withRecords(context, rows);
    const { id, record, missing }: NamedDocument = document ?? { id: word };
    if (context.settings.dryRun && missing) throw missing;
    requireOpenable({ id, record });
    if (context.settings.dryRun) return plannedOpen(context, id);
    const copy = await copyPrivately(context, { id, record });
    return { ...copy, opened: await show(context, copy.path) };
  },
});

/** Opens a file; if that cannot be done, notes why, and returns false. */
async function show(context: Context, path: string): Promise<boolean> {
  const { env, platform } = context;
  const obstacle = openObstacle(env, platform);
  const isOpen = obstacle === undefined && (await openWithDesktop(path, env, platform));
  if (!isOpen)
    context.note(
      `${obstacle ?? 'No program opened the file'}: open this file yourself, and delete it when you are done. Otherwise, docs open deletes it once it is older than a day.`,
    );
  return isOpen;
}

function plannedOpen(context: Context, id: string): DryRun {
  return {
    schema: 1,
    dryRun: true,
    requests: [context.api.describe(callFor('documents', 'download', id))],
    changes: [{ id, field: 'file', from: null, to: '(a private copy)' }],
  };
}
