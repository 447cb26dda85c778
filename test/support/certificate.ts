import { execFileSync, spawnSync } from 'node:child_process';

/** Why no certificate can be made here; tests that need one are skipped with this sentence. */
export const noOpenssl = spawnSync('openssl', ['version']).error
  ? 'openssl is not installed (apt-get install openssl)'
  : undefined;

/** Makes a self-signed certificate for `DNS:host` or `IP:address`. */
export function makeCertificate(name: string, keyFile: string, out: string): void {
  const subject = `/CN=${name.slice(name.indexOf(':') + 1)}`;
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj ${subject} -addext subjectAltName=${name} -keyout ${keyFile} -out ${out}`;
  execFileSync('openssl', words.split(' '), { stdio: 'ignore' });
}
