/** The licences of the bundled packages, from the modules that the bundler included. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the text of THIRD-PARTY-NOTICES.md for a bundle of these modules.
 * Throws if a bundled package names no licence or ships no licence text.
 */
export async function notices(moduleIds, root) {
  const folders = new Set(moduleIds.map((id) => packageFolder(id, root)).filter(Boolean));
  const packages = await Promise.all([...folders].map(readPackage));
  packages.push(...(await carried(moduleIds, packages)));
  packages.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return [
    '# Third-party notices',
    '',
    'rosterctl is one file tree without dependencies because these packages are bundled into it.',
    'Each is listed with its own licence. This page is written by the build from what is in the bundle.',
    '',
    ...packages.map(({ name, version, licence, within }) =>
      within ? `- ${name}, ${licence}, inside ${within}` : `- ${name} ${version}, ${licence}`,
    ),
    ...packages.flatMap(({ name, version, text, within }) => [
      '',
      within ? `## ${name}, inside ${within}` : `## ${name} ${version}`,
      ...(within ? ['', `${within} ships it as WebAssembly, without a notice of its own.`] : []),
      '',
      '```text',
      text,
      '```',
    ]),
    '',
  ].join('\n');
}

/** Third-party code inside bundled packages: undici ships the HTTP parser llhttp, by another author. */
async function carried(moduleIds, packages) {
  if (!moduleIds.some((id) => /undici[\\/]lib[\\/]llhttp[\\/]llhttp/.test(id))) return [];
  const { name, version } = packages.find((each) => each.name === 'undici');
  const file = new URL('llhttp-licence.txt', import.meta.url);
  const text = (await readFile(file, 'utf8')).trim();
  return [{ name: 'llhttp', licence: 'MIT', text, within: `${name} ${version}` }];
}

/** The folder of the package that a module belongs to; undefined for our own modules. */
function packageFolder(moduleId, root) {
  // The bundler's runtime has no file; it belongs to the bundler's package.
  if (moduleId.startsWith('\0rolldown/')) return join(root, 'node_modules', 'rolldown');
  const found = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(moduleId);
  return found?.[1];
}

async function readPackage(folder) {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const { name, version, license: licence } = manifest;
  if (typeof licence !== 'string')
    throw new Error(`the bundled package ${name} ${version} names no licence in its package.json`);
  const file = (await readdir(folder)).find((entry) =>
    /^(licen[cs]e|copying)(\.|-|$)/i.test(entry),
  );
  if (!file) throw new Error(`the bundled package ${name} ${version} ships no text of its licence`);
  const text = (await readFile(join(folder, file), 'utf8')).replace(/\r\n?/g, '\n').trim();
  return { name, version, licence, text };
}
