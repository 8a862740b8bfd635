import { z } from 'zod'
import { type Endpoint, isPaid, paramNames } from '../api/endpoint/define.ts'
import { type Api, api, type EndpointName, endpointNames } from '../api/index.ts'
import { tidySchema } from '../api/openapi/schemas.ts'
import { parameterText } from '../api/openapi/words.ts'
import { usage } from '../cli/exit.ts'
import { isObject } from '../core/json.ts'
import { formatPrice } from '../core/money.ts'
import { didYouMean, kebab } from '../text/text.ts'

type ToolChoice = {
  /** Also operator tools. */
  readonly admin: boolean
  /** Chooses only tools that change nothing and cost nothing. */
  readonly readonly: boolean
  /** Group names, `default` or `all`. */
  readonly groups: readonly string[]
}

/** An endpoint as a tool, derived from the contract. */
export type EndpointTool = ReturnType<typeof toolOf>

const ADMIN_GROUP = 'admin'
const PLATFORM_GROUP = 'platform'
/** Group of the services that an instance can enable one by one, such as `site-audit`. */
const NAMED_GROUP = 'named'
const DEFAULT_GROUPS = 'default'
const ALL_GROUPS = 'all'
/** Groups for buyers and sellers. Some clients accept only 40 tools, so the other groups are left out. */
const defaultGroups: readonly string[] = [
  'services',
  'jobs',
  'threads',
  'register',
  'provider',
  'balance',
  'reputation',
  'events',
]
/** Extra argument of paid tools. */
const MAX_PRICE = z
  .string()
  .optional()
  .meta({ description: 'highest price to pay, in USDC such as 0.50; the spending policy of the wallet also applies' })
const IDEMPOTENCY_KEY = z
  .string()
  .optional()
  .meta({ description: 'idempotency key: repeat a call with its key to never pay twice' })

/** Tools made from endpoints, in the order of the API contract. */
export function endpointTools({ admin, readonly, groups }: ToolChoice): readonly EndpointTool[] {
  return endpointNames
    .filter((name) => isTool(api[name]) && (admin || api[name].access.kind !== 'admin'))
    .map(toolOf)
    .filter((tool) => !readonly || tool.annotations.readOnlyHint)
    .filter((tool) => groups.some((group) => isInGroup(tool, group)))
}

function isInGroup({ group }: EndpointTool, chosen: string): boolean {
  return chosen === ALL_GROUPS || chosen === group || (chosen === DEFAULT_GROUPS && defaultGroups.includes(group))
}

/** The tools that `--tools`, `--admin` and `--readonly` choose. @throws CliError `usage` for an unknown group */
export function chosenTools(given: {
  readonly tools?: string | undefined
  readonly admin: boolean
  readonly readonly: boolean
}): readonly EndpointTool[] {
  const { tools = given.admin ? `${DEFAULT_GROUPS},${ADMIN_GROUP}` : DEFAULT_GROUPS } = given
  const groups = tools.split(',').filter(Boolean)
  const names = endpointNames.filter((name) => isTool(api[name])).map((name) => groupOf(api[name]))
  const known = [DEFAULT_GROUPS, ALL_GROUPS, ...new Set(names.sort())]
  for (const group of groups.filter((one) => !known.includes(one))) {
    throw usage(`There is no tool group ${group}${didYouMean(group, known)}.`, {
      facts: [`groups: ${known.join(', ')}`],
    })
  }
  return endpointTools({ ...given, groups })
}

/** Whether an endpoint can be a tool: JSON in and out, and no special access. The facilitator's endpoints cannot. */
function isTool({ access, body, reply, servedWith }: Endpoint): boolean {
  const isCalled = access.kind !== 'token' && access.kind !== 'key_or_signed' && servedWith === undefined
  const isAsked = body === undefined || body.kind === 'json' || body.orJson
  return isCalled && isAsked && ['json', 'json_or_page', 'feed'].includes(reply.kind)
}

function groupOf({ path, access, switch: enabledBy }: Endpoint): string {
  if (access.kind === 'admin') return ADMIN_GROUP
  if (enabledBy !== undefined) return NAMED_GROUP
  return /^\/v1\/([a-z]+)/.exec(path)?.[1] ?? PLATFORM_GROUP
}

function toolOf(name: EndpointName) {
  const endpoint: Endpoint = api[name]
  const { method, path, summary, access } = endpoint
  const isRead = method === 'GET' && access.kind !== 'key_or_paid' && access.kind !== 'paid'
  return {
    name: kebab(name).replaceAll('-', '_'),
    endpoint: name,
    /** Name of the tool's group, as given to `--tools`. */
    group: groupOf(endpoint),
    description: `${summary}. ${opensWords(endpoint)}${method} ${path}`,
    inputSchema: schemaOf(endpoint),
    annotations: {
      title: summary,
      readOnlyHint: isRead,
      destructiveHint: method === 'DELETE',
      idempotentHint: isRead || method === 'PUT' || method === 'DELETE',
      openWorldHint: true,
    },
  }
}

function opensWords(endpoint: Endpoint): string {
  if (!isPaid(endpoint)) return ''
  const { access } = endpoint
  const price = access.price === 'varies' ? 'price that you offer' : formatPrice(access.price)
  return `Costs ${price}${access.kind === 'key_or_paid' ? ' without an account' : ''}, within the spending policy of the wallet. `
}

/** Each path parameter and filter is an argument. The whole request body is one argument, so names cannot clash. */
function schemaOf(endpoint: Endpoint): ArgumentSchema {
  const params = Object.fromEntries(
    paramNames(endpoint.path).map((name) => [
      name,
      z.string().meta({ description: parameterText(name, endpoint.path) }),
    ]),
  )
  const body = endpoint.body?.kind === 'multipart' ? endpoint.body.fields : endpoint.body?.schema
  const shape = {
    ...params,
    ...endpoint.query?.shape,
    ...(body === undefined ? {} : { body: body.safeParse({}).success ? body.optional() : body }),
    ...(isPaid(endpoint) ? { max_price: MAX_PRICE, idempotency_key: IDEMPOTENCY_KEY } : {}),
  }
  return argumentSchema(shape)
}

/** Names of the secret members of a response. The agent does not see their values. */
export function secretsOf(name: EndpointName): readonly string[] {
  const { reply }: Endpoint = api[name]
  return reply.kind === 'json' ? reply.secrets : []
}

/**
 * Names of an endpoint's path parameters and query parameters. Every other argument goes into the body or the payment.
 */
export function placesOfArguments(name: keyof Api): {
  readonly params: readonly string[]
  readonly query: readonly string[]
} {
  const { path, query }: Endpoint = api[name]
  return { params: paramNames(path), query: Object.keys(query?.shape ?? {}) }
}

export function isPaidTool(name: EndpointName): boolean {
  return isPaid(api[name])
}

/** Whether a call must be signed with the wallet's key. */
export function needsSignature(name: EndpointName): boolean {
  const { access }: Endpoint = api[name]
  return access.kind === 'paid' && access.x402Only === true
}

export type ArgumentSchema = { readonly type: 'object'; readonly [member: string]: unknown }

type Node = Readonly<Record<string, unknown>>

/** How often a recursive schema is expanded. Deeper levels accept any object. */
const EXPANSIONS_MAX = 2
/** The only string format that all clients accept. */
const KNOWN_FORMAT = 'date-time'
const ANY_OBJECT: Node = { type: 'object' }

/**
 * Schema of a tool's arguments, for clients that accept little of JSON Schema: no `$ref`, recursion, `const`, `oneOf` or
 * `propertyNames`, and one type per node. Accepts all that the endpoint accepts, except deeply nested arrays.
 */
export function argumentSchema(shape: z.ZodRawShape): ArgumentSchema {
  const {
    $schema: _,
    $defs = {},
    ...root
  } = z.toJSONSchema(z.strictObject(shape), { io: 'input', override: tidySchema })
  return { ...simplified(root, { definitions: $defs, open: [] }), type: 'object' }
}

type Expansion = {
  readonly definitions: Node
  /** References being expanded. */
  readonly open: readonly string[]
}

function simplified(node: Node, expansion: Expansion): Node {
  const { $ref, propertyNames: _, ...own } = node
  if (typeof $ref === 'string') return { ...expanded($ref, expansion), ...own }
  const entries = Object.entries(own).flatMap(([name, value]) => simplifiedMember(name, value, expansion))
  return withOneType(Object.fromEntries(entries))
}

function expanded($ref: string, { definitions, open }: Expansion): Node {
  const target = definitions[$ref.slice('#/$defs/'.length)]
  if (!isObject(target) || open.filter((one) => one === $ref).length >= EXPANSIONS_MAX) return ANY_OBJECT
  if (Object.keys(target).every((keyword) => keyword === 'description')) return { ...target, anyOf: ANYTHING }
  return simplified({ ...target }, { definitions, open: [...open, $ref] })
}

/** One alternative for each JSON type except null. */
const ANYTHING = [
  ANY_OBJECT,
  { type: 'array', items: ANY_OBJECT },
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
]

function simplifiedMember(name: string, value: unknown, expansion: Expansion): [string, unknown][] {
  if (name === 'const') return [['enum', [value]]]
  if (name === 'oneOf') return [['anyOf', simplifiedValue(value, expansion)]]
  if (name === 'format' && value !== KNOWN_FORMAT) return []
  // An object without `additionalProperties` allows any members, so a schema with `$ref` is dropped here.
  if (name === 'additionalProperties' && isObject(value) && '$ref' in value) return []
  if (name === 'properties' && isObject(value)) {
    const properties = Object.entries(value).map(([one, schema]) => [one, simplifiedValue(schema, expansion)])
    return [[name, Object.fromEntries(properties)]]
  }
  if (['enum', 'required', 'examples', 'default', 'type'].includes(name)) return [[name, value]]
  return [[name, simplifiedValue(value, expansion)]]
}

function simplifiedValue(value: unknown, expansion: Expansion): unknown {
  if (Array.isArray(value)) return value.map((one) => simplifiedValue(one, expansion))
  return isObject(value) ? simplified({ ...value }, expansion) : value
}

function withOneType({ type, ...rest }: Node): Node {
  if (type === undefined) return rest
  return Array.isArray(type) ? { ...rest, anyOf: type.map((one) => ({ type: one })) } : { type, ...rest }
}
