import type { Reply, Service } from '../../support/service.js';

/** Step 1 of an upload: each grant names a new key in this store. */
export function grantsOf({ origin }: Pick<Service, 'origin'>): () => Reply {
  let grants = 0;
  return () => {
    const key = `files/${++grants}`;
    const uploadUrl = `${origin}/${key}?sig=canary`;
    return { status: 200, json: { key, fileRef: `ref:${key}`, uploadUrl } };
  };
}
