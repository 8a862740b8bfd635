import schema20 from '@seriousme/openapi-schema-validator/schemas/v2.0/schema.json' with { type: 'json' }
import schema30 from '@seriousme/openapi-schema-validator/schemas/v3.0/schema.json' with { type: 'json' }
import schema31 from '@seriousme/openapi-schema-validator/schemas/v3.1/schema.json' with { type: 'json' }
import schema32 from '@seriousme/openapi-schema-validator/schemas/v3.2/schema.json' with { type: 'json' }
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import draft04 from 'ajv-draft-04'
import { attempt } from '../../../../src/core/error.ts'

const MAX_FAULTS = 5
const NOTHING_MATCHES = 'no schema is published for this version'

/** Published schemas of the OpenAPI Initiative, by version. `isOlder`: written in JSON Schema draft 4, not 2020-12. */
const schemas = {
  '2.0': { schema: schema20, isOlder: true },
  '3.0': { schema: schema30, isOlder: true },
  '3.1': { schema: schema31, isOlder: false },
  '3.2': { schema: schema32, isOlder: false },
} as const
type Version = keyof typeof schemas

export type Validity = {
  readonly valid: boolean
  readonly checked: string[]
  readonly faults: { readonly path: string; readonly message: string }[]
}

/** Validates a description against the published schema of its version, and checks its references. */
export function validityOf(document: Readonly<Record<string, unknown>>): Validity {
  const stated = String(document['openapi'] ?? document['swagger'] ?? '')
  const version = Object.keys(schemas).find((one): one is Version => stated.startsWith(one))
  if (version === undefined) return { valid: false, checked: [], faults: [{ path: '', message: NOTHING_MATCHES }] }
  const faults = [...schemaFaults(version, document), ...lostReferences(document)].slice(0, MAX_FAULTS)
  const checked = [`the published schema of OpenAPI ${version}`, 'whether every internal reference resolves']
  return { valid: faults.length === 0, checked, faults }
}

const compiled = new Map<Version, ValidateFunction>()

function validatorFor(version: Version): ValidateFunction {
  const { schema, isOlder } = schemas[version]
  const options = { strict: false, validateFormats: false, logger: false } as const
  const made = compiled.get(version) ?? (isOlder ? new draft04.default(options) : new Ajv2020(options)).compile(schema)
  compiled.set(version, made)
  return made
}

function schemaFaults(version: Version, document: unknown): Validity['faults'] {
  const validate = validatorFor(version)
  if (validate(document)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => ({
    path: instancePath,
    message: message ?? 'does not match the schema',
  }))
}

function lostReferences(document: Readonly<Record<string, unknown>>): Validity['faults'] {
  return referencesIn(document).flatMap(({ path, to }) =>
    resolves(document, to) ? [] : [{ path, message: `${to} does not resolve` }],
  )
}

type Reference = { readonly path: string; readonly to: string }

type Place = { readonly path: string; readonly node: unknown }

/** Finds internal references. Iterative, since nesting is unbounded. */
function referencesIn(root: unknown): Reference[] {
  const found: Reference[] = []
  const waiting: Place[] = [{ path: '', node: root }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, node } = next
    if (!isObject(node)) continue
    const { $ref: to } = node
    if (typeof to === 'string' && to.startsWith('#/')) found.push({ path, to })
    waiting.push(...membersOf(next))
  }
  return found
}

/** Members that may hold references; members of examples are left out. */
function membersOf({ path, node }: Place): Place[] {
  const members = Object.entries(node ?? {}).filter(([name]) => name !== 'example' && name !== 'examples')
  return members.map(([name, member]) => ({ path: `${path}/${name}`, node: member }))
}

function isObject(node: unknown): node is Readonly<Record<string, unknown>> {
  return typeof node === 'object' && node !== null
}

function resolves(root: unknown, reference: string): boolean {
  let node: unknown = root
  for (const part of reference.slice('#/'.length).split('/')) {
    const name = decoded(part)
    if (!isObject(node) || !Object.hasOwn(node, name)) return false
    node = node[name]
  }
  return true
}

/** Decodes a part of a JSON pointer. A part with invalid encoding stays unchanged and matches nothing. */
function decoded(part: string): string {
  return attempt(() => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')) ?? part
}
