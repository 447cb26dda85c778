import { openBeforeImages } from '../../src/runs/before-images.js';

// Child process for the before-image tests: writes 100 entries at once, reports that, and stays alive unless asked to end.
const [, , folder = '', ends] = process.argv;
const images = openBeforeImages(folder, { isKey: () => false, isOurs: () => true });
const rows = Array.from({ length: 100 }, (_, row) => row);
Promise.all(
  rows.map((row) => images.append({ row, id: `app_${row}`, kind: 'fields', before: { row } })),
).then(
  () => {
    process.stdout.write('100 on disk\n');
    if (ends === undefined) setInterval(() => {}, 1000);
  },
  (error: { readonly code: string }) => process.stdout.write(`refused: ${error.code}\n`),
);
