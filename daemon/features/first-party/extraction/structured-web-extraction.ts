import { AppError } from '../../../../src/core/error.ts'
import { type AnyObject, isObject, type Json } from '../../../../src/core/json.ts'
import { ownOf } from '../../../../src/core/record.ts'
import { compileDeliverableSchema } from '../../../../src/schema/schema.ts'
import { MAX_LLM_CHARS } from '../../../ports/llm/llm.ts'
import { checkAddress, readFirst } from '../docs/pages.ts'
import { isGrounded, isSaid, plainly } from '../service/grounding.ts'
import { defineService, type JsonInput, textOf, wrongField } from '../service/service.ts'
import { decode, type WebPage } from '../web/page.ts'
import { numberOf } from './coerce.ts'
import { type FilledField, type Fitted, filled } from './fit.ts'
import { type FoundFacts, factsOf } from './page-facts.ts'

const SLUG = 'structured_web_extraction'
const MAX_PROMPT_CHARS = 2_000
const MAX_TOKENS = 2_000
const MAX_FACTS_SHOWN = 200
const MAX_TABLES_SHOWN = 20
const MAX_MISSING = 100
const MODEL_CONFIDENCE = 0.7

/** A model's answer; undefined before asking, null if unusable. */
type Said = { readonly model: string; readonly answer: unknown } | null
type Source = { readonly page: WebPage; readonly fetchedAt: number; readonly wantsModel: boolean; readonly said?: Said }

/**
 * Fills a schema from what a page says, each member with its source and confidence. If a language model is configured,
 * it can answer a prompt; statements that the page does not support are removed.
 */
export const structuredWebExtraction = defineService({
  slug: SLUG,
  wants: ['llm'],
  check(input, ctx) {
    checkAddress('url')(input, ctx)
    if (textOf(input, 'prompt').length > MAX_PROMPT_CHARS) {
      throw wrongField('prompt', `must be at most ${MAX_PROMPT_CHARS} characters`)
    }
    if (textOf(input, 'prompt').trim() !== '' && !isObject(input['schema']) && !ctx.engines.llm?.serves(SLUG)) {
      throw new AppError(
        'unavailable',
        'A prompt without a schema needs a language model, but none is configured: also send a schema.',
        { retryAfter: 3_600 },
      )
    }
  },
  async read(input, ctx): Promise<Source> {
    const page = await readFirst(ctx, input, { field: 'url' })
    const wantsModel = textOf(input, 'prompt').trim() !== '' && ctx.engines.llm?.serves(SLUG) === true
    return { page, fetchedAt: page.at, wantsModel }
  },
  make(input, source): Json {
    const page = factsOf(source.page)
    const schema = isObject(input['schema']) ? input['schema'] : undefined
    if (source.wantsModel && source.said === undefined) return { text: page.text.slice(0, MAX_LLM_CHARS) }
    return resultOf({ input, source, page }, schema)
  },
  async again({ input, source, made }, { engines: { llm }, signal }) {
    if (!source.wantsModel || source.said !== undefined || !llm) return undefined
    const schema = isObject(input['schema']) ? input['schema'] : { type: 'object' }
    const data = isObject(made) ? String(made['text']) : ''
    const task = `Extract from the page what is asked for: ${textOf(input, 'prompt').trim()}\nCopy words and numbers as the page has them. Leave out what it does not say.`
    try {
      const answer = await llm.ask({ task, data, schema, maxTokens: MAX_TOKENS, signal })
      return { ...source, said: { model: llm.model, answer } }
    } catch (error) {
      if (signal.aborted) throw error
      return { ...source, said: null }
    }
  },
})

type Making = { readonly input: JsonInput; readonly source: Source; readonly page: FoundFacts }

function resultOf({ input, source, page }: Making, schema: AnyObject | undefined): Json {
  if (source.said === null && !schema)
    throw new AppError('provider_failed', 'The language model returned no usable data.')
  const compiled = schema ? compiledOf(schema) : undefined
  const found = compiled ? filled(compiled.expanded, page, source.page.url) : unasked(source, page)
  const told = source.said ? grounded(source.said.answer, page) : { value: {}, fields: [] }
  const data = merged(found.value ?? {}, told.value)
  if (isObject(data) && Object.keys(data).length === 0) refuseEmpty(page, source.page)
  const isTold = new Set(told.fields.map(({ path }) => path))
  const fields = [...found.fields.filter(({ path }) => !isTold.has(path)), ...told.fields]
  const ignored = textOf(input, 'prompt').trim() !== '' && !source.wantsModel
  return {
    url: textOf(input, 'url').trim(),
    final_url: source.page.url,
    data,
    schema_valid: compiled ? compiled.validate(data).ok : null,
    missing: compiled ? missingIn(compiled.expanded, data, []).slice(0, MAX_MISSING) : [],
    fields: fields.map((field) => ({ ...field })),
    rendered: false,
    ...(ignored ? { prompt_ignored: 'no language model is configured; only the schema was used' } : {}),
    fetched_at: new Date(source.fetchedAt).toISOString(),
    engine: engineOf(source),
  }
}

const LITTLE_TEXT_CHARS = 200
/** Start of an executable script; scripts that only hold JSON are excluded. */
const SCRIPT = /<script\b(?![^>]{0,200}\btype\s*=\s*["']?application\/(?:ld\+)?json)/i

/** Refuses to charge for nothing. @throws AppError provider_failed */
function refuseEmpty({ text }: FoundFacts, page: WebPage): never {
  const isScripted = text.length < LITTLE_TEXT_CHARS && SCRIPT.test(decode(page))
  throw new AppError(
    'provider_failed',
    isScripted
      ? 'The page is empty until its scripts run, and this service does not run scripts.'
      : 'Nothing that was asked for is on the page in data, tables, lists or labels.',
  )
}

/** Result without a schema: all facts of the page. Empty if a model answered. */
function unasked({ said }: Source, page: FoundFacts): Fitted {
  return { value: said ? {} : overviewOf(page), fields: [] }
}

function engineOf({ said }: Source): Json {
  if (said) return { name: 'llm', version: '1', kind: 'model', model: said.model }
  return { name: 'souk', version: '1', kind: 'deterministic', ...(said === null ? { fallback_from: 'llm' } : {}) }
}

/** @throws AppError `input_invalid` for a schema that does not compile. */
function compiledOf(schema: AnyObject) {
  try {
    return compileDeliverableSchema(schema, 'schema')
  } catch (error) {
    if (error instanceof AppError) throw wrongField('schema', error.message.replace(/^schema:?\s*/, ''), error)
    throw error
  }
}

function overviewOf({ title, description, type, facts, tables, links }: FoundFacts): Json {
  return {
    title,
    description,
    type,
    facts: facts
      .filter(({ source }) => source !== 'class')
      .slice(0, MAX_FACTS_SHOWN)
      .map(({ path, value, source }) => ({ name: path.join('.'), value, source })),
    tables: tables
      .slice(0, MAX_TABLES_SHOWN)
      .map(({ header, rows }) => ({ header: [...header], rows: rows.map((row) => [...row]) })),
    links: links.map((link) => ({ ...link })),
  }
}

type Grounded = { readonly value: Json; readonly fields: readonly FilledField[] }

/** A model's answer without the numbers, quotes and addresses that the page does not contain. */
function grounded(answer: unknown, page: FoundFacts): Grounded {
  const source = plainly(
    [page.text, ...page.facts.map(({ value }) => String(value)), ...page.links.map(({ url }) => url)].join('\n'),
  )
  const numbers = new Set(
    (source.match(/\d[\d.,']*/g) ?? []).flatMap((text) => numberOf(text.replace(/\D$/, '')) ?? []),
  )
  const fields: FilledField[] = []
  const value = kept(answer, [])
  return { value: value ?? {}, fields }

  function kept(said: unknown, path: readonly string[]): Json | undefined {
    if (said === null || path.length > 8) return undefined
    if (Array.isArray(said)) return said.slice(0, 100).flatMap((one) => kept(one, path) ?? [])
    if (isObject(said)) {
      const members = Object.entries(said).slice(0, 200)
      return Object.fromEntries(
        members.flatMap(([name, inner]) => {
          const one = kept(inner, [...path, name])
          return one === undefined ? [] : [[name, one] as const]
        }),
      )
    }
    return scalar(said, path)
  }

  function scalar(said: unknown, path: readonly string[]): Json | undefined {
    if (typeof said !== 'string' && typeof said !== 'number' && typeof said !== 'boolean') return undefined
    const verified = typeof said === 'number' ? numbers.has(said) : typeof said === 'string' && isSaid(said, source)
    if (typeof said === 'number' && !verified) return undefined
    if (typeof said === 'string' && !isGrounded(said, source)) return undefined
    fields.push({ path: path.join('.'), source: 'model', confidence: MODEL_CONFIDENCE, verified })
    return said
  }
}

/** Merges a model's values with the page's values. A page's value is used only where the model gives none. */
function merged(found: Json, told: Json): Json {
  if (!isObject(found) || !isObject(told) || Array.isArray(found) || Array.isArray(told)) return told
  const names = [...new Set([...Object.keys(found), ...Object.keys(told)])]
  return Object.fromEntries(
    names.map((name) => [name, memberOf(ownOf(found, name) as Json, ownOf(told, name) as Json)]),
  ) // JSON inside
}

function memberOf(found: Json | undefined, told: Json | undefined): Json {
  if (found === undefined || told === undefined) return told ?? found ?? null
  return merged(found, told)
}

/** Schema members without a value; for a list, the members that some of its items lack. */
function missingIn(schema: AnyObject, data: unknown, path: readonly string[]): string[] {
  const { properties, items } = schema
  if (Array.isArray(data) && isObject(items)) {
    const [last = '', ...above] = path.toReversed()
    const own = [...above.toReversed(), `${last}[]`]
    return [...new Set(data.flatMap((one) => (isObject(one) ? missingIn(items, one, own) : [])))]
  }
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, inner]) => {
    const value = isObject(data) ? ownOf(data, name) : undefined
    const own = [...path, name]
    if (value === undefined) return [own.join('.')]
    return isObject(inner) ? missingIn(inner, value, own) : []
  })
}
