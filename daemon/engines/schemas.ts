import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, invalidField } from '../../src/core/error.ts'
import { keptIn } from '../../src/core/record.ts'
import type { JsonObject } from '../../src/model/service.ts'
import { TOO_LARGE, type Validation } from '../../src/schema/compile.ts'
import { checkDeliverable, compileInputSchema, unwrapBrief } from '../../src/schema/schema.ts'
import { type Context, defineResource } from '../kernel/context.ts'
import {
  asUnavailable,
  type Compute,
  compute,
  type How,
  isBeyondBounds,
  openCompute,
  type ThreadsChange,
} from './compute.ts'

/**
 * Checks listing schemas, and inputs and deliverables against them. All of these come from untrusted users, so costly
 * checks run on a worker thread. `how.who` names the caller; waiting callers take turns.
 */
export type SchemaChecks = {
  /** Compiles a listing's schemas. @throws AppError 400 that names the path of an invalid schema, or `unavailable`. */
  readonly refuseBroken: (asked: Written, how: How) => Promise<void>
  /**
   * Takes the input from a purchase body and fills in the schema's defaults (decisions §8).
   * @throws AppError 400 with the invalid paths, or `unavailable`.
   */
  readonly input: (schema: JsonObject, body: JsonObject, how: How) => Promise<JsonObject>
  readonly checkInput: (schema: JsonObject, input: JsonObject, how: How) => Promise<Validation>
  /** Whether a deliverable matches its schema. Pass `text` if the deliverable is already serialised. */
  readonly checkDeliverable: (schema: JsonObject, given: Given, how: How) => Promise<Validation>
  /** A valid example input; undefined if none was found. */
  readonly example: (schema: JsonObject, how: How) => Promise<JsonObject | undefined>
}

export const schemas = defineResource<SchemaChecks>('schemas')

type Written = {
  readonly input_schema?: JsonObject | undefined
  readonly deliverable_schema?: JsonObject | undefined
  /** Prefix of the schemas' paths in the request, such as `services.0.`. */
  readonly at?: string
}
type Given = { readonly value: unknown; readonly text?: string }

/** Below these sizes, a schema without costly keywords compiles and runs within milliseconds. */
const PLAIN_SCHEMA_CHARS = 4_096
const PLAIN_SCHEMA_OBJECTS = 24
const PLAIN_VALUE_CHARS = 4_096
/** Keywords that test a value several times, compile a regular expression, or multiply work. */
const COSTLY_KEYWORD =
  /"(?:\$ref|pattern|patternProperties|allOf|anyOf|oneOf|not|if|contains|dependent\w+|unevaluated\w+|propertyNames|uniqueItems|multipleOf)":/

/** Opens the worker threads for costly work, and the schema checks that run on them. */
export function openThreads(ctx: Context, change?: ThreadsChange): void {
  const threads = openCompute(change)
  compute.open(ctx, threads, threads.close)
  schemas.open(ctx, openSchemas(threads))
}

function openSchemas(threads: Compute): SchemaChecks {
  const textOf = memo((schema) => JSON.stringify(schema))
  const isPlain = memo((schema) => isCheap(textOf(schema)))
  const examples = new WeakMap<JsonObject, Promise<JsonObject | undefined>>()
  async function checkInput(schema: JsonObject, input: JsonObject, how: How): Promise<Validation> {
    const text = JSON.stringify(input)
    if (text.length <= PLAIN_VALUE_CHARS && isPlain(schema)) return knownInput(schema).validate(input)
    const checked = await within(threads.run('checkInput', [textOf(schema), text], how), () => TOO_LARGE)
    if (!checked.ok) return checked
    return { ok: true, value: checked.text === undefined ? input : JSON.parse(checked.text) }
  }

  return {
    async refuseBroken({ input_schema, deliverable_schema, at = '' }, how) {
      const written = [
        ['compileInput', `${at}input_schema`, input_schema],
        ['compileDeliverable', `${at}deliverable_schema`, deliverable_schema],
      ] as const
      for (const [compile, path, schema] of written) {
        if (!schema) continue
        await within(threads.run(compile, [JSON.stringify(schema), path], how), () => {
          throw invalidField(path, 'too complex to compile')
        })
      }
    },

    async input(schema, body, how) {
      const checked = await checkInput(schema, unwrapBrief(schema, body) as JsonObject, how) // out of a body of JSON
      if (checked.ok) return checked.value as JsonObject // an object by its schema
      const first = checked.details[0]
      throw new AppError('input_invalid', `${first?.path || 'The input'}: ${first?.message ?? 'is not valid'}`, {
        details: checked.details,
      })
    },

    checkInput,

    async checkDeliverable(schema, given, how) {
      const { value } = given
      // Serialising or copying a large value takes long, so yield before each.
      await nextTurn()
      const text = given.text ?? JSON.stringify(value)
      if (text.length <= PLAIN_VALUE_CHARS && isPlain(schema)) return checkDeliverable(schema, value)
      await nextTurn()
      const checked = await within(threads.run('checkDeliverable', [textOf(schema), text], how), () => TOO_LARGE)
      return checked.ok ? { ok: true, value } : checked
    },

    example(schema, how) {
      return keptIn(examples, schema, () =>
        threads.run('exampleInput', [textOf(schema)], how).catch(() => {
          examples.delete(schema) // tried again the next time
          return undefined
        }),
      )
    },
  }
}

/** Compiles a stored listing's input schema. It compiled before the listing was stored, so this cannot fail. */
const knownInput = (schema: JsonObject) => compileInputSchema(schema, 'input_schema', true)

/** Result of a check; `beyond()` if over a limit. @throws AppError `unavailable` if the check did not finish. */
async function within<T>(work: Promise<T>, beyond: () => T): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isBeyondBounds(error)) return beyond()
    throw asUnavailable(error)
  }
}

function isCheap(schemaText: string): boolean {
  if (schemaText.length > PLAIN_SCHEMA_CHARS || COSTLY_KEYWORD.test(schemaText)) return false
  return schemaText.split('{').length - 1 <= PLAIN_SCHEMA_OBJECTS
}

/** Caches results by schema object, because the store returns the same object at every read. */
function memo<T>(make: (schema: JsonObject) => T): (schema: JsonObject) => T {
  const known = new WeakMap<JsonObject, { readonly made: T }>()
  return (schema) => keptIn(known, schema, () => ({ made: make(schema) })).made
}
