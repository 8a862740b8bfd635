import type { JsonObject } from '../../src/model/service.ts'
import { TOO_LARGE, type Validation } from '../../src/schema/compile.ts'
import { exampleInput } from '../../src/schema/example.ts'
import { checkDeliverable, compileDeliverableSchema, compileInputSchema } from '../../src/schema/schema.ts'
import { madeBy } from '../features/first-party/index.ts'
import { runStep } from '../features/first-party/service/step.ts'

/* What threads are asked to do. JSON crosses as text: one block of bytes, where objects are walked twice. */

/** `text` is absent where it is what was given: it need not be sent back and parsed again. */
type Checked = { readonly ok: true; readonly text?: string } | Extract<Validation, { ok: false }>

export const operations = {
  /** @throws AppError invalid_request that names the place in the schema. */
  compileInput: (schemaText: string, path: string) => {
    compileInputSchema(JSON.parse(schemaText), path)
  },
  /** @throws AppError invalid_request that names the place in the schema. */
  compileDeliverable: (schemaText: string, path: string) => {
    compileDeliverableSchema(JSON.parse(schemaText), path)
  },
  /** The input with the schema's defaults filled in. */
  checkInput: (schemaText: string, inputText: string): Checked => {
    if (holdsTooMuch(inputText)) return TOO_LARGE
    const checked = compileInputSchema(parsed(schemaText), 'input_schema', true).validate(JSON.parse(inputText))
    if (!checked.ok) return checked
    const text = JSON.stringify(checked.value)
    return text === inputText ? { ok: true } : { ok: true, text }
  },
  /** Whether a deliverable is what was promised; it stands as it was given. */
  checkDeliverable: (
    schemaText: string,
    deliverableText: string,
  ): { ok: true } | Extract<Validation, { ok: false }> => {
    if (holdsTooMuch(deliverableText)) return TOO_LARGE
    const checked = checkDeliverable(parsed(schemaText), JSON.parse(deliverableText))
    return checked.ok ? { ok: true } : checked
  },
  exampleInput: (schemaText: string) => exampleInput(JSON.parse(schemaText)) as JsonObject | undefined, // JSON made from a JSON schema
  /** What a first-party service makes of an input and of what it fetched for it. */
  make: madeBy,
  /** What a first-party service reads out of the words of strangers before it goes on. */
  step: runStep,
} as const

/** Objects and arrays in one document: empty ones take twenty times the room of their text. */
const MAX_CONTAINERS = 400_000
const OPENING = /[[{]/g

/** Looked at before it is parsed: a thread that runs out of memory inside the parser takes everything with it. */
function holdsTooMuch(text: string): boolean {
  if (text.length <= MAX_CONTAINERS) return false
  let found = 0
  for (OPENING.lastIndex = 0; OPENING.test(text); ) if (++found > MAX_CONTAINERS) return true
  return false
}

const MAX_PARSED = 100
const parsedTexts = new Map<string, unknown>()

/** The same schema is the same object, so that its compiled form is found at once. */
function parsed(text: string): unknown {
  const known = parsedTexts.get(text)
  if (known !== undefined) return known
  const schema: unknown = JSON.parse(text)
  const [oldest] = parsedTexts.keys()
  if (parsedTexts.size >= MAX_PARSED && oldest !== undefined) parsedTexts.delete(oldest)
  parsedTexts.set(text, schema)
  return schema
}
