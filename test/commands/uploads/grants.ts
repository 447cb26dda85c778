import type { Reply, Service } from '../../support/service.js';

/** Step 1 of an upload: each grant names a key in this store, by default a new one. */
export function grantsOf(
  { origin }: Pick<Service, 'origin'>,
  keyOf = (nth: number) => `files/${nth}`,
): () => Reply {
  let grants = 0;
  return () => {
    const key = keyOf(++grants);
    const uploadUrl = `${origin}/${key}?sig=canary`;
    return { status: 200, json: { key, fileRef: `ref:${key}`, uploadUrl } };
  };
}
