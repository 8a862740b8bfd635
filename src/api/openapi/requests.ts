import { type AnyObject, isObject } from '../../core/json.ts'
import { maxPriceHeader } from '../endpoint/credentials.ts'
import { type Body, type Endpoint, isPaid, type MultipartBody, paramNames } from '../endpoint/define.ts'
import type { EndpointName } from '../index.ts'
import { traceSignatureHeader, traceTimestampHeader } from '../sections/trace.ts'
import { bodyExamples } from './examples.ts'
import type { OpenApiNode, SchemaComponents } from './schemas.ts'
import { parameterText } from './words.ts'

/** What an endpoint takes outside of its body. */
export function parameters(endpoint: Endpoint, schemas: SchemaComponents): OpenApiNode[] {
  return [...pathParameters(endpoint), ...queryParameters(endpoint, schemas), ...headerParameters(endpoint)]
}

function pathParameters(endpoint: Endpoint): OpenApiNode[] {
  return paramNames(endpoint.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    description: parameterText(name, endpoint.path),
    schema: { type: 'string' },
  }))
}

function queryParameters(endpoint: Endpoint, schemas: SchemaComponents): OpenApiNode[] {
  if (!endpoint.query) return []
  const { properties, required } = objectParts(schemas.of(endpoint.query))
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: (isObject(schema) ? schema.description : undefined) ?? parameterText(name, endpoint.path),
    schema,
  }))
}

/** Members of an object's schema, and which of them are needed. */
function objectParts({ properties, required }: OpenApiNode): { properties: AnyObject; required: readonly unknown[] } {
  return { properties: isObject(properties) ? properties : {}, required: Array.isArray(required) ? required : [] }
}

function header(name: string, description: string): OpenApiNode {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

const idempotencyKey = header(
  'Idempotency-Key',
  'the same key and request give the stored answer again, without a second charge',
)
const maxPrice = header(
  maxPriceHeader,
  'what this may cost at most in dollars, such as 0.525; above it the answer is 409 with the price, uncharged',
)
/** Instead of a key, for who has none. */
const signature = [
  header(traceSignatureHeader, 'EIP-191 signature of the payer, where no key is sent'),
  header(traceTimestampHeader, 'unix seconds, within 300 of now; needed with a signature'),
]

function headerParameters(endpoint: Endpoint): OpenApiNode[] {
  if (isPaid(endpoint)) return [idempotencyKey, maxPrice]
  return endpoint.access.kind === 'key_or_signed' ? signature : []
}

/** Not required where `{}` will do: then a request may come without a body too. */
export function requestBody(name: EndpointName, body: Body, schemas: SchemaComponents): OpenApiNode {
  const example = bodyExamples[name]
  const media = (schema: OpenApiNode): OpenApiNode => (example === undefined ? { schema } : { schema, example })
  if (body.kind === 'multipart') return multipartBody(body, schemas.of(body.fields), media)
  const one = media(schemas.of(body.schema))
  const form = body.orForm ? { 'application/x-www-form-urlencoded': one } : {}
  return { required: !body.schema.safeParse({}).success, content: { 'application/json': one, ...form } }
}

function multipartBody(
  { maxFileBytes, orJson }: MultipartBody,
  fields: OpenApiNode,
  media: (schema: OpenApiNode) => OpenApiNode,
): OpenApiNode {
  const form = { 'multipart/form-data': { schema: withFile(fields, maxFileBytes) } }
  return { required: true, content: { ...form, ...(orJson ? { 'application/json': media(fields) } : {}) } }
}

/** The fields, then the file as the last part. */
function withFile(fields: OpenApiNode, maxFileBytes: number): OpenApiNode {
  const { properties, required } = objectParts(fields)
  const description = `the last part of the form, at most ${maxFileBytes} bytes`
  return {
    ...fields,
    properties: { ...properties, file: { type: 'string', contentMediaType: 'application/octet-stream', description } },
    required: [...required, 'file'],
  }
}
