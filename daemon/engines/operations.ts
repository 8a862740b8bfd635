import { dropOldest } from '../../src/core/record.ts'
import type { JsonObject } from '../../src/model/service.ts'
import { TOO_LARGE } from '../../src/schema/compile.ts'
import { exampleInput } from '../../src/schema/example.ts'
import { checkDeliverable, compileDeliverableSchema, compileInputSchema } from '../../src/schema/schema.ts'
import { madeBy } from '../features/first-party/index.ts'
import { runStep } from '../features/first-party/service/step.ts'
import type { Operations } from './compute.ts'

export const operations: Operations = {
  compileInput: (schemaText, path) => {
    compileInputSchema(JSON.parse(schemaText), path)
  },
  compileDeliverable: (schemaText, path) => {
    compileDeliverableSchema(JSON.parse(schemaText), path)
  },
  checkInput: (schemaText, inputText) => {
    if (holdsTooMuch(inputText)) return TOO_LARGE
    const checked = compileInputSchema(parsed(schemaText), 'input_schema', true).validate(JSON.parse(inputText))
    if (!checked.ok) return checked
    const text = JSON.stringify(checked.value)
    return text === inputText ? { ok: true } : { ok: true, text }
  },
  checkDeliverable: (schemaText, deliverableText) => {
    if (holdsTooMuch(deliverableText)) return TOO_LARGE
    const checked = checkDeliverable(parsed(schemaText), JSON.parse(deliverableText))
    return checked.ok ? { ok: true } : checked
  },
  exampleInput: (schemaText) => exampleInput(JSON.parse(schemaText)) as JsonObject | undefined, // JSON made from a JSON schema
  make: madeBy,
  step: runStep,
}

/** Maximum number of objects and arrays in one document. An empty one takes twenty times the memory of its text. */
const MAX_CONTAINERS = 400_000
const OPENING = /[[{]/g

/** Whether a text has too many objects and arrays. A parser that runs out of memory would crash the process. */
function holdsTooMuch(text: string): boolean {
  if (text.length <= MAX_CONTAINERS) return false
  let found = 0
  for (OPENING.lastIndex = 0; OPENING.test(text); ) if (++found > MAX_CONTAINERS) return true
  return false
}

const MAX_PARSED = 100
const parsedTexts = new Map<string, unknown>()

/** Parses a schema. Equal texts give the same object, whose compiled schema is cached. */
function parsed(text: string): unknown {
  const known = parsedTexts.get(text)
  if (known !== undefined) return known
  const schema: unknown = JSON.parse(text)
  if (parsedTexts.size >= MAX_PARSED) dropOldest(parsedTexts)
  parsedTexts.set(text, schema)
  return schema
}
