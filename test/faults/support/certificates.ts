import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/run.js';

/** A private authority and its certificates, created on first use. */
export interface Certificates {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  readonly good: Pair;
  readonly wrongHost: Pair;
  readonly expired: Pair;
  readonly future: Pair;
  /** Self-signed. */
  readonly selfSigned: Pair;
}

export interface Pair {
  readonly key: Buffer;
  readonly cert: Buffer;
}

let made: Certificates | undefined;

/** Certificates for 127.0.0.1, localhost and api.test, made by openssl. */
export function certificates(): Certificates {
  made ??= make();
  return made;
}

function make(): Certificates {
  const dir = temporaryFolder('certificates');
  const openssl = (...words: string[]) =>
    execFileSync('openssl', words, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  mkdirSync(join(dir, 'new'));
  writeFileSync(join(dir, 'index.txt'), '');
  writeFileSync(
    join(dir, 'ca.cnf'),
    `[ca]
default_ca = here
[here]
dir = ${dir}
new_certs_dir = ${dir}/new
database = ${dir}/index.txt
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
`,
  );
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem'],
    ...['-subj', '/CN=Test authority', '-days', '3650'],
  );
  const names = 'subjectAltName=DNS:localhost,DNS:api.test,IP:127.0.0.1,IP:::1';
  const request = (name: string, alt: string) =>
    openssl(
      ...['req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`],
      ...['-subj', `/CN=${name}`, '-addext', alt],
    );
  const sign = (name: string, from: string, to: string) =>
    openssl(
      ...['ca', '-batch', '-config', 'ca.cnf', '-keyfile', 'ca.key', '-cert', 'ca.pem', '-notext'],
      ...['-in', `${name}.csr`, '-out', `${name}.pem`, '-startdate', from, '-enddate', to],
    );
  const pair = (name: string, from = '20200101000000Z', to = '20991231000000Z', alt = names) => {
    request(name, alt);
    sign(name, from, to);
    return read(name);
  };
  const read = (name: string): Pair => ({
    key: readFileSync(join(dir, `${name}.key`)),
    cert: readFileSync(join(dir, `${name}.pem`)),
  });
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', 'self.key', '-out', 'self.pem'],
    ...['-subj', '/CN=localhost', '-addext', names, '-days', '3650'],
  );
  return {
    authorityFile: join(dir, 'ca.pem'),
    good: pair('good'),
    wrongHost: pair('elsewhere', undefined, undefined, 'subjectAltName=DNS:elsewhere.test'),
    expired: pair('expired', '20200101000000Z', '20210101000000Z'),
    future: pair('future', '20800101000000Z', '20990101000000Z'),
    selfSigned: read('self'),
  };
}
