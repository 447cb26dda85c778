import type * as z from 'zod/mini';

export type Fits = (value: unknown) => boolean;

/**
 * A quick test made from a schema, since most records of a long list are as documented: true only
 * for what the schema accepts; a false one says that the schema has to be asked.
 */
export function fitsOf(schema: z.core.$ZodType): Fits {
  const known = made.get(schema);
  if (known) return known;
  const fits = make(schema as z.core.$ZodTypes);
  made.set(schema, fits);
  return fits;
}

const made = new WeakMap<z.core.$ZodType, Fits>();

const never: Fits = () => false;

function make(schema: z.core.$ZodTypes): Fits {
  const { def } = schema._zod;
  if (def.checks && def.checks.length > 0) return never;
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'unknown':
      return () => true;
    case 'enum': {
      const words = new Set<unknown>(Object.values(def.entries));
      return (value) => words.has(value);
    }
    case 'optional': {
      const inner = fitsOf(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case 'nullable': {
      const inner = fitsOf(def.innerType);
      return (value) => value === null || inner(value);
    }
    case 'array': {
      const element = fitsOf(def.element);
      return (value) => Array.isArray(value) && value.every(element);
    }
    case 'record':
      return recordFits(def);
    case 'object':
      return objectFits(def);
    default:
      return never;
  }
}

function recordFits({ keyType, valueType }: z.core.$ZodRecordDef): Fits {
  const anyKey = (keyType as z.core.$ZodTypes)._zod.def;
  const anyValue = (valueType as z.core.$ZodTypes)._zod.def;
  if (anyKey.type !== 'string' || anyKey.checks?.length || anyValue.type !== 'unknown')
    return never;
  return (value) => isPlain(value) && !Object.hasOwn(value, 'constructor');
}

/** Only objects that keep unknown fields: others would have to be searched for them. */
function objectFits({ shape, catchall }: z.core.$ZodObjectDef): Fits {
  if ((catchall as z.core.$ZodTypes | undefined)?._zod.def.type !== 'unknown') return never;
  const fields = Object.keys(shape).map((name) => ({ name, fits: fitsOf(shape[name] as never) }));
  return (value) => {
    if (!isPlain(value)) return false;
    for (const { name, fits } of fields) if (!fits(value[name])) return false;
    return true;
  };
}

function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
