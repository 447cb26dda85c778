/** Values that cost something to make: made when first used, kept from then on. */

/** Returns a function that makes the value on its first call and returns the same one ever after. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
