/** The cells that no client can judge: nothing in what the service sends differs from the truth. */

/** By table and shape: the commands. It may not grow. */
export const unseen: Readonly<Record<string, readonly string[]>> = {};
