/**
 * The service of applications.mjs in nginx, which uses so little CPU that the client is what is
 * measured. Responses are fixed by path and method: a read returns `pending`, a write `rejected`,
 * whatever came before.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { application } from './application.mjs';

/** The module that delays responses, from a separate package (Debian: libnginx-mod-http-echo). */
const echoModule = '/usr/lib/nginx/modules/ngx_http_echo_module.so';

/** Returns true if nginx is installed and, for a latency, the module that delays responses. */
export function hasNginx(latencyMs) {
  const found = spawnSync('sh', ['-c', 'command -v nginx']).status === 0;
  return found && (latencyMs === 0 || existsSync(echoModule));
}

/** Starts nginx with its files in a folder of `home`. `reset` sets the number of applications in its list. */
export async function startNginx(home, latencyMs) {
  const folder = join(home, `nginx-${latencyMs}`);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const configuration = join(folder, 'nginx.conf');
  const write = (count) => {
    const ids = Array.from({ length: count }, (_, index) => `app_${index}`);
    writeFileSync(join(folder, 'list.json'), `[${ids.map((id) => application(id)).join(',')}]`);
    writeFileSync(configuration, configurationFor({ folder, port, count, latencyMs }));
  };
  write(0);
  const child = spawn('nginx', ['-c', configuration, '-p', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await shows(origin, 0);
  return {
    origin,
    async reset(count) {
      write(count);
      child.kill('SIGHUP');
      await shows(origin, count);
    },
    stop: () => child.kill(),
  };
}

function configurationFor({ folder, port, count, latencyMs }) {
  const record = application('$1', '$status_now');
  const answer =
    latencyMs === 0
      ? `return 200 '${record}';`
      : `echo_read_request_body; echo_sleep ${latencyMs / 1000}; echo '${record}';`;
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(' ');
  return `${latencyMs === 0 ? '' : `load_module ${echoModule};`}
${process.getuid() === 0 ? '# Its folder is readable by its owner alone.\nuser root;' : ''}
worker_processes 1;
daemon off;
pid ${join(folder, 'pid')};
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 60s;
  default_type application/json;
  ${temporary}
  map $request_method $status_now { default pending; PATCH rejected; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${folder};
    location ~ ^/v1/tryout-applications/([^/]+)$ {
      ${answer}
    }
    location = /v1/tryout-applications {
      # A total, so that no round number looks like a list that was cut.
      add_header x-total-count ${count};
      try_files /list.json =404;
    }
  }
}
`;
}

/** Resolves once the list has the expected length; an old worker may still answer for a moment. */
async function shows(origin, count) {
  for (let look = 0; look < 500; look++) {
    // Connections are not reused, because one would keep the old worker alive.
    const answer = await fetch(`${origin}/v1/tryout-applications`, {
      method: 'HEAD',
      headers: { connection: 'close' },
    }).catch(() => undefined);
    if (answer?.headers.get('x-total-count') === String(count)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nginx does not answer as it should');
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
