// What a type of TypeScript is as JSON, as a JSON Schema: what a value of it can hold once it was printed.
import ts from 'typescript'

export type JsonNode = { readonly [keyword: string]: unknown }

/** What somebody else made, or what a type says nothing of: any JSON, by name, so that a reader sees that it is meant. */
const anyJson: JsonNode = { $ref: '#/$defs/Json' }
const KINDS_OF_JSON = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** What `anyJson` refers to. */
export const ownDefinitions: Readonly<Record<string, JsonNode>> = {
  Json: { description: 'any JSON', type: KINDS_OF_JSON, items: anyJson, additionalProperties: anyJson },
}

/** Types that are any JSON, by the names that they have in the source and in the library of the schemas. */
const NAMES_OF_JSON = ['Json', 'JSONType']

/** Strict: a member that the type does not declare is none. */
export function schemaOf(checker: ts.TypeChecker, types: readonly ts.Type[]): JsonNode {
  return eitherOf({ checker, within: [] }, types)
}

type Walk = { readonly checker: ts.TypeChecker; readonly within: readonly ts.Type[] }

const everyKind = [
  { type: 'string' },
  { type: 'number' },
  { type: 'null' },
  { type: 'array', items: anyJson },
  { type: 'object', additionalProperties: anyJson },
].map((kind) => JSON.stringify(kind))

const ANYTHING = ts.TypeFlags.Any | ts.TypeFlags.Unknown
const NOTHING = ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never
const plain: readonly (readonly [ts.TypeFlags, JsonNode])[] = [
  [ts.TypeFlags.StringLike, { type: 'string' }],
  [ts.TypeFlags.NumberLike, { type: 'number' }],
  [ts.TypeFlags.BooleanLike, { type: 'boolean' }],
  [ts.TypeFlags.BigIntLike, { type: 'string', pattern: String.raw`^-?\d+$` }],
  [ts.TypeFlags.Null, { type: 'null' }],
]

function convert(walk: Walk, type: ts.Type): JsonNode {
  const { checker, within } = walk
  if (isAnyJson(type)) return anyJson
  if (type.flags & ts.TypeFlags.TypeParameter) return convert(walk, checker.getBaseConstraintOfType(type) ?? type)
  if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value }
  if (type.flags & ts.TypeFlags.BooleanLiteral) return { const: checker.typeToString(type) === 'true' }
  if (type.isUnion()) return eitherOf(walk, type.types)
  const found = plain.find(([flag]) => type.flags & flag)?.[1]
  if (found !== undefined) return found
  if (type.isIntersection()) {
    // A brand: text or a number that says what it is.
    const base = type.types.find((one) => plain.some(([flag]) => one.flags & flag))
    if (base !== undefined) return convert(walk, base)
  }
  // What holds itself is not written out for ever.
  return within.includes(type) ? anyJson : objectOf({ checker, within: [...within, type] }, type)
}

function isAnyJson({ flags, aliasSymbol }: ts.Type): boolean {
  return (flags & ANYTHING) !== 0 || NAMES_OF_JSON.includes(aliasSymbol?.name ?? '')
}

function eitherOf(walk: Walk, types: readonly ts.Type[]): JsonNode {
  const all = types.filter(({ flags }) => !(flags & NOTHING)).map((one) => convert(walk, one))
  // The compiler has them in the order in which it came upon them, which any other file may change.
  const byText = new Map(all.map((one) => [JSON.stringify(one), one]))
  // `Json | undefined` has lost its name.
  if (everyKind.every((kind) => byText.has(kind))) return anyJson
  const distinct = [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  const words = distinct.flatMap((one) => ('const' in one ? [one.const] : []))
  const others = distinct.filter((one) => !('const' in one))
  const isBoolean = words.includes(true) && words.includes(false)
  const rest = isBoolean ? words.filter((word) => typeof word !== 'boolean') : words
  const parts = [
    ...(rest.length === 1 ? [{ const: rest[0] }] : []),
    ...(rest.length > 1 ? [{ enum: rest }] : []),
    ...(isBoolean ? [{ type: 'boolean' }] : []),
    ...others,
  ]
  if (parts.length === 0) return { not: {} } // it prints nothing
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : { anyOf: parts }
}

function objectOf(walk: Walk, type: ts.Type): JsonNode {
  const { checker } = walk
  if (checker.isTupleType(type) || checker.isArrayType(type)) return arrayOf(walk, type as ts.TypeReference) // both are
  const infos = checker.getIndexInfosOfType(type)
  const index = infos.find(({ keyType }) => keyType.flags & ts.TypeFlags.String)?.type
  const patterns = infos.flatMap((info) => patternOf(walk, info))
  const members = checker.getPropertiesOfType(type).flatMap((member) => memberOf(walk, member, index !== undefined))
  const required = members.filter((one) => one.required).map(({ name }) => name)
  return {
    type: 'object',
    ...(members.length === 0 ? {} : { properties: Object.fromEntries(members.map(({ name, node }) => [name, node])) }),
    ...(required.length === 0 ? {} : { required }),
    ...(patterns.length === 0 ? {} : { patternProperties: Object.fromEntries(patterns) }),
    additionalProperties: index === undefined ? false : convert(walk, index),
  }
}

/** Members whose names begin alike: an index by `x-${string}`. */
function patternOf(walk: Walk, { keyType, type }: ts.IndexInfo): readonly (readonly [string, JsonNode])[] {
  const [start = ''] = keyType.flags & ts.TypeFlags.TemplateLiteral ? (keyType as ts.TemplateLiteralType).texts : [] // its flag says so
  return start === '' ? [] : [[`^${start}`, convert(walk, type)]]
}

function arrayOf(walk: Walk, type: ts.TypeReference): JsonNode {
  const elements = walk.checker.getTypeArguments(type).map((one) => convert(walk, one))
  const distinct = [...new Map(elements.map((one) => [JSON.stringify(one), one])).values()]
  if (distinct.length === 0) return { type: 'array', maxItems: 0 }
  return { type: 'array', items: distinct.length === 1 ? distinct[0] : { anyOf: distinct } }
}

type Member = { readonly name: string; readonly node: JsonNode; readonly required: boolean }

function memberOf(walk: Walk, member: ts.Symbol, isOpen: boolean): readonly Member[] {
  const { checker } = walk
  const type = checker.getTypeOfSymbol(member)
  if (type.getCallSignatures().length > 0) return [] // a function is left out when it is printed
  const isOptional =
    (member.flags & ts.SymbolFlags.Optional) !== 0 ||
    (type.isUnion() && type.types.some(({ flags }) => flags & NOTHING)) ||
    (type.flags & NOTHING) !== 0
  // Where any other member may stand, one that never does is told.
  if (type.flags & NOTHING) return isOpen ? [{ name: member.name, node: { not: {} }, required: false }] : []
  const node = convert(walk, type)
  const words = ts.displayPartsToString(member.getDocumentationComment(checker)).replace(/\s+/g, ' ').trim()
  return [{ name: member.name, node: words === '' ? node : { ...node, description: words }, required: !isOptional }]
}
