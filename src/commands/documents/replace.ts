/** `rosterctl documents replace`: uploads a file in place of a document, then deletes that document. */

import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { bulkFlags } from '../../bulk/invocation.js';
import { defineOperation } from '../../bulk/run-operation.js';
import type { CommandOutput } from '../../cli/command-output.js';
import { type DryRun, param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { recordView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { digestOf } from '../../data/digest.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { ConflictError, isProvenNotFound } from '../../data/outcome-errors.js';
import { recordedSize } from '../../data/path.js';
import { quotedId } from '../../data/references.js';
import { isSameValue } from '../../data/sorting.js';
import { binarySize } from '../../data/text.js';
import type { Operation } from '../../engine/operation.js';
import {
  BugError,
  CancelledError,
  Failure,
  GuardError,
  OutputError,
  UnknownOutcomeError,
  UsageError,
} from '../../errors.js';
import { tagNamesIn } from '../../resources/document-tags.js';
import { idArg } from '../../resources/params.js';
import {
  idsOfWords,
  type RecordReader,
  readCreated,
  recordIfThere,
  recordReader,
} from '../../resources/read.js';
import { openRunStore } from '../../runs/store.js';
import { markOf } from '../../terminal/paint.js';
import { singleLine } from '../../terminal/safe-text.js';
import { inspectFile } from '../../uploads/local-file.js';
import { uploadOperation } from '../../uploads/operation.js';
import type { OwnText, UploadJob } from '../../uploads/plan.js';
import { toInspectedFile } from '../../uploads/rows.js';

interface ReplaceValues {
  readonly id: string;
  readonly file: string;
  readonly contentType: UploadContentType | undefined;
}

/** The differences between the upload of a replacement and any other upload. */
const replacementParts = {
  job: async (_: Context, { id }: ReplaceValues): Promise<UploadJob> => ({
    name: null,
    tags: [],
    ifExists: 'duplicate',
    verify: true,
    replaces: id,
  }),
  async rows(context: Context, { id, file, contentType }: ReplaceValues) {
    const inspectedFile = toInspectedFile(context, await inspectFile(file, contentType));
    const old = await recordIfThere(recordReader(context, 'documents'), id);
    const own = { ...inspectedFile, ...(old ? { text: textOf(id, old) } : { isMissing: true }) };
    return {
      rows: [{ row: 1, id: file, own, cells: [file] }],
      header: ['path'],
      // Without the old document, which may have changed or gone before the same command is run again.
      digest: digestOf([id, inspectedFile]),
    };
  },
} satisfies Partial<Operation>;

function textOf(id: string, old: JsonObject) {
  const { tags, ...named } = inherited(old);
  if (!tags)
    throw new UsageError(`The tags of ${id} cannot be read, so the new document would lose them.`, {
      hint: 'Upload the file as a document of its own: rosterctl docs upload FILE --tag TAG',
    });
  return { ...named, tags };
}

/** Returns the fields that a new document takes over from the old one, if they can be read. */
function inherited({ name, tags }: JsonObject) {
  return { ...(typeof name === 'string' && { name }), tags: tagNamesIn(tags) };
}

const { waitLock, restart } = bulkFlags;

export default defineOperation({
  summary: 'Replace a document with a file',
  about:
    'Uploads the file as a new document with the name and the tags of the old one, downloads it to compare its bytes, ' +
    'and then asks to delete the old one; in a script, add --yes. The new document gets a new id. If it is interrupted, run ' +
    'the same command again, with the id of the old document: it continues where it stopped. While the old document exists, runs undo can delete the new one; a deletion cannot be undone.',
  examples: [
    ['See what would be sent', 'doc_0001 contract.pdf --dry-run'],
    ['From a script', 'doc_0001 contract.pdf --yes'],
  ],
  calls: ['requestUpload', 'createDocument', 'listDocuments', 'downloadDocument', 'deleteDocument'],
  args: {
    id: idArg('documents'),
    file: param(nonEmptyText, 'the file that takes its place', {
      completes: 'file',
    }),
  },
  flags: {
    contentType: param(z.optional(UploadContentType), 'the type of the file, whatever its name', {
      placeholder: 'TYPE',
      group: 'change',
    }),
    waitLock,
    restart,
  },
  view: recordView('documents'),
  operation: {
    ...uploadOperation(),
    ...replacementParts,
    async bind(context, given: Values, use) {
      // Before the first request: without a run, nothing is uploaded.
      if (!context.settings.dryRun) openRunStore(context.paths);
      const [id = given.id] = await idsOfWords(context, 'documents', [given.id]);
      const values = { ...given, id };
      let copied: OwnText | undefined;
      const uploaded = await use({
        check: () => checkReplacement(context, values),
        job: () => replacementParts.job(context, values),
        async rows() {
          const selection = await replacementParts.rows(context, values);
          copied = selection.rows[0]?.own.text;
          return selection;
        },
      });
      return deleteReplaced(context, values, uploaded, copied);
    },
  },
});

type Values = ReplaceValues & { readonly waitLock: number | undefined };

/** Checks that the file can be sent and the deletion will not be refused. Throws InputError or UsageError. */
async function checkReplacement(
  { settings, prompts }: Context,
  { id, file, contentType }: Values,
): Promise<void> {
  if (file === '-')
    throw new UsageError('docs replace takes a file, not stdin (-).', {
      hint: 'Name the file.',
    });
  if (settings.yes || settings.dryRun || prompts.unavailable === undefined) return;
  // Report a wrong file first: with --yes, the same command would only be refused again.
  await inspectFile(file, contentType);
  // The deletion would be refused once the new document is there.
  throw new UsageError(
    `Delete document ${id} after the upload? This needs a confirmation, and ${prompts.unavailable}.`,
    { hint: 'Run it in a terminal, or add --yes. --dry-run shows what it would do.' },
  );
}

/** Deletes the old document once the new one is uploaded and verified; `copied`: what that took over from it. */
async function deleteReplaced(
  context: Context,
  values: Values,
  uploaded: CommandOutput,
  copied: OwnText | undefined,
): Promise<CommandOutput> {
  const { id } = values;
  const { value, existingId } = uploaded;
  const uploadedId = existingId ?? (isObject(value) ? value['id'] : undefined);
  if (uploadedId === id) return uploaded;
  // With --fields, --template or -o ids, the dry run prints the record, and its requests as lines on stderr.
  const showsRecord = context.settings.dryRun && isObject(value) && !('dryRun' in value);
  const output = showsRecord ? 'ids' : context.settings.output;
  const remove = () => confirmAndDelete(context, values, output);
  if (context.settings.dryRun) {
    const removal = await remove();
    return showsRecord ? uploaded : bothDryRuns(uploaded, removal);
  }
  const { newId, reader } = await requireNew(context, values, uploadedId);
  if (copied) await requireSame(reader, { id, newId }, copied);
  const isAsked = !context.settings.yes;
  const line = `Uploaded ${values.file} as ${newId} and verified it.`;
  if (isAsked) context.message(line);
  else context.note(line);
  // Both documents have its name now.
  const toDelete = `To delete the old document, run the same command again with its id: ${id}`;
  let removed: CommandOutput | undefined;
  try {
    removed = await remove();
  } catch (error) {
    if (isProvenNotFound(error)) context.note(`${id} is already deleted.`);
    else if (error instanceof CancelledError)
      throw new CancelledError(`${id} was not deleted, and ${newId} stays.`, {
        hint: toDelete,
        cause: error,
      });
    else {
      if (error instanceof Failure) {
        // Its request may have been sent, and a journal that fails may be that of its result.
        const isOpen = error instanceof UnknownOutcomeError || error instanceof OutputError;
        const state = isOpen ? 'may not have been deleted' : 'was not deleted';
        context.message(`${id} ${state}. ${toDelete}`);
      }
      throw error;
    }
  }
  const onWritten = async () => {
    await uploaded.onWritten?.();
    await removed?.onWritten?.();
  };
  return { ...uploaded, view: replacedView(context, uploaded, { id, newId }), onWritten };
}

/**
 * Returns the id of the new document, and the reader that found it. Throws GuardError if it is not there:
 * it may have been deleted since an earlier run of this command.
 */
async function requireNew(
  context: Context,
  { id, file }: Values,
  uploadedId: unknown,
): Promise<{ readonly newId: string; readonly reader: RecordReader }> {
  if (typeof uploadedId === 'string') {
    const { record, reader } = await readCreated(context, 'documents', uploadedId);
    if (record) return { newId: uploadedId, reader };
  }
  const what =
    typeof uploadedId === 'string'
      ? `${uploadedId}, which replaces it,`
      : `The document of ${file}`;
  throw new GuardError(`${what} is not in the list; ${id} was not deleted.`, {
    code: 'notThere',
    hint: 'To upload it again, run the same command with --restart.',
  });
}

/** Throws ConflictError if the old document is no longer what the new one was made from. */
async function requireSame(
  reader: RecordReader,
  { id, newId }: { readonly id: string; readonly newId: string },
  copied: OwnText,
): Promise<void> {
  const now = await recordIfThere(reader, id);
  if (!now || isSameValue(inherited(now), copied)) return;
  throw new ConflictError(
    `${id} was changed while ${newId} was uploaded, so it was not deleted. Both documents stay.`,
    { hint: `Compare them: rosterctl documents get ${quotedId(id)} ${quotedId(newId)}` },
  );
}

/** Asks to delete the old document, and deletes it as `docs delete` does. */
async function confirmAndDelete(
  context: Context,
  { id, waitLock: wait }: Values,
  output: Context['settings']['output'],
): Promise<CommandOutput> {
  const { default: command } = await import('./delete.js');
  if (command.kind !== 'operation') throw new BugError('docs delete is not an operation.');
  // A bare word could read as a reference.
  const values = { ids: [`id:${id}`], waitLock: wait };
  // The fields to show are those of the new document.
  const settings = { ...context.settings, output, fields: undefined, template: undefined };
  return command.run({ ...context, settings }, values, ['documents', 'delete']);
}

/** The requests of both steps, each with what it would do; without an upload only those of the deletion. */
function bothDryRuns(uploaded: CommandOutput, removed: CommandOutput): CommandOutput {
  const [first, second] = [uploaded.value as DryRun, removed.value as DryRun];
  const value: DryRun = {
    ...first,
    requests: [...first.requests, ...second.requests],
    changes: [...first.changes, ...second.changes],
  };
  const steps = [uploaded, removed].filter((step) => (step.value as DryRun).requests.length > 0);
  const lines: CommandOutput['view']['lines'] = (_, canvas) =>
    steps.flatMap((step) => step.view.lines?.(step.value as never, canvas) ?? []);
  const view = steps.length > 1 ? { ...uploaded.view, lines } : uploaded.view;
  return { ...uploaded, value, view };
}

/** The view of the new document; at a terminal one line says what it replaced. */
function replacedView(
  { isInteractive, settings }: Context,
  { view, value }: CommandOutput,
  { id, newId }: { readonly id: string; readonly newId: string },
): CommandOutput['view'] {
  if (!isInteractive || settings.fields || settings.quiet || !view.lines) return view;
  const record = isObject(value) ? value : {};
  const { name } = record;
  const bytes = recordedSize(record);
  const size = bytes === undefined ? '' : ` (${binarySize(bytes)})`;
  const what = typeof name === 'string' ? `${name}: ` : '';
  const line = `${what}${id} replaced by ${newId}${size}.`;
  return { ...view, lines: (_, { isUtf8 }) => [singleLine(`${markOf(true, isUtf8)} ${line}`)] };
}
