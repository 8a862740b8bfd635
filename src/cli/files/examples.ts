import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import * as z from '../params.ts'

const NAME = 'required; text, 1 to 80 characters'
const TEXT = `text, up to ${MAX_TEXT_CHARS} characters`
const CATEGORY = `text, up to ${MAX_NAME_CHARS} characters`
const PRICE = 'required; USDC from 0.001 to 10000, at most 3 decimals; the amount you receive'

type Field = {
  readonly name: string
  /** As YAML. */
  readonly value: string
  /** Type, bounds and default of the field, in words. */
  readonly says: string
  /** The field is optional, so the example shows it as a comment. */
  readonly isLeftOut?: true
}

const listing: readonly Field[] = [
  { name: 'name', value: 'Proofreading', says: NAME },
  { name: 'description', value: 'A corrected copy of your text.', says: `required; ${TEXT}` },
  { name: 'price', value: '"1.00"', says: `${PRICE}; left out with pricing_model quote_required` },
  { name: 'fulfillment_type', value: 'automated', says: 'instant, automated or human (default: automated)' },
  { name: 'estimated_delivery', value: '2 hours', says: 'number and unit: minutes, hours, days', isLeftOut: true },
  { name: 'pricing_model', value: 'fixed', says: 'fixed or quote_required (default: fixed)', isLeftOut: true },
  {
    name: 'service_type',
    value: 'automated_service',
    says: 'data_api, automated_service or human_service (default: as fulfillment_type)',
    isLeftOut: true,
  },
  { name: 'category', value: 'writing', says: CATEGORY, isLeftOut: true },
  { name: 'tags', value: '[text, english]', says: 'list of text', isLeftOut: true },
  {
    name: 'input_schema',
    value: '{ type: object, properties: { text: { type: string } }, required: [text] }',
    says: 'JSON Schema 2020-12 of the buyer’s input, up to 32 KB',
  },
  {
    name: 'deliverable_schema',
    value: '{ type: object, properties: { text: { type: string } } }',
    says: 'JSON Schema of the deliverable (default: any JSON)',
    isLeftOut: true,
  },
  { name: 'webhook_url', value: 'https://example.org/hook', says: 'URL to which jobs are sent', isLeftOut: true },
  { name: 'form', value: 'newer', says: 'newer or older: format of the listing (default: newer)', isLeftOut: true },
]

const plan: readonly Field[] = [
  { name: 'name', value: 'Basic', says: NAME },
  { name: 'description', value: 'All my readings.', says: TEXT },
  { name: 'price', value: '"5.00"', says: `${PRICE} each period` },
  { name: 'billing_period', value: 'monthly', says: 'monthly or annual' },
  { name: 'service_ids', value: '[svc_0123456789abcdef]', says: 'required; ids of your active listings' },
]

const product: readonly Field[] = [
  { name: 'name', value: 'A book', says: NAME },
  { name: 'price', value: '"5.00"', says: PRICE },
  { name: 'description', value: 'A PDF of 120 pages.', says: TEXT, isLeftOut: true },
  { name: 'category', value: 'books', says: CATEGORY, isLeftOut: true },
]

const request: readonly Field[] = [
  { name: 'title', value: 'Translate a page', says: 'required; text, up to 500 characters' },
  { name: 'brief', value: '{ text: One page into German }', says: 'required; an object, up to 16 KiB of JSON' },
  { name: 'budget_max_usd', value: '20', says: 'required; a number: highest price to pay, in USD' },
  { name: 'budget_min_usd', value: '5', says: 'a number', isLeftOut: true },
  { name: 'category', value: 'writing', says: CATEGORY, isLeftOut: true },
  {
    name: 'deadline',
    value: '2030-01-31T12:00:00Z',
    says: 'ISO 8601, at most 30 days from now (default: none)',
    isLeftOut: true,
  },
  {
    name: 'parent_job_id',
    value: 'job_0123456789abcdef',
    says: 'id of your job as provider, if this request is a subtask of it',
    isLeftOut: true,
  },
]

export const fieldsOf = { listing, plan, product, request }
export type ExampleName = keyof typeof fieldsOf

/** An example document as YAML; `given` values replace those of the example. */
export function exampleOf(name: ExampleName, given: Readonly<Record<string, string>> = {}): string {
  const lines = fieldsOf[name].flatMap(({ name: field, value, says, isLeftOut }) => {
    const line = `${field}: ${given[field] ?? value}`
    return [`# ${field}: ${says}`, isLeftOut ? `# ${line}` : line]
  })
  return `${lines.join('\n')}\n`
}

export const exampleOption = z.flag({ description: 'print an example file for --file, with types and bounds' })
