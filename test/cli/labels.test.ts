import { describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

// The label of a field, wherever a field is typed; what is printed has the API's name.

const home = temporaryFolder();
const sandbox = (line: string) => inProcess(`-p sandbox ${line}`, { home });

describe('--fields with the label of a field', () => {
  test.each([
    ['tryouts list --fields id,submitted -L1', /^id\tsubmittedAt\napp_\d+\t20\d\d-\S+Z\n$/],
    ['teams list --fields id,Name -L1', /^id\tname\nteam_\d+\t\S.*\n$/],
    ['docs list --fields size,type,id -L1', /^sizeBytes\tcontentType\tid\n\d+\t\S+\tdoc_\d+\n$/],
    ['players list --fields id,E-mail -L1', /^id\temail\nplayer_\d+\t\S+@\S+\n$/],
    ['tryouts list --search nobody-at-all --fields id,E-mail', /^id\temail\n$/],
    ['tryouts list --search nobody-at-all --fields id,E-mail -o csv', /^id,email\r\n$/],
  ])('%s has the column in a pipe', async (line, stdout) => {
    const ran = await sandbox(line);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(stdout)]);
  });

  test('does not hide a misspelt one', async () => {
    const ran = await rosterctl('-p sandbox teams list --fields id,Name,zork', { home });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain('Unknown field "zork".');
  });
});
