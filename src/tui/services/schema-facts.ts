import type { Json } from '../../core/json.ts'
import { clip, count } from '../../text/text.ts'
import { type Fields, fields, list, number, text, word } from '../shell/read.ts'

const MEMBERS_MAX = 40
const ENUM_COLUMNS = 30

/** What is shown of a member of a JSON Schema. */
export type Member = {
  readonly name: string
  readonly required: boolean
  readonly type: string
  /** Bounds or choices in short: `1 to 10`, `a|b`. */
  readonly bounds: string
  readonly about: string
}

/** Members of a listing's schema. A schema of named deliverables has one member for each. */
export function readMembers(schema: Json): readonly Member[] {
  const { properties, required } = fields(schema)
  if (properties === undefined) return named(fields(schema))
  const needed = list(required)
  return Object.entries(fields(properties))
    .slice(0, MEMBERS_MAX)
    .map(([name, member]) => readMember(name, fields(member), needed.includes(name)))
}

/** Named deliverables: `{ report: schema }`. */
function named(schemas: Fields): Member[] {
  return Object.entries(schemas)
    .filter(([, schema]) => typeof schema === 'object' && schema !== null && !Array.isArray(schema))
    .slice(0, MEMBERS_MAX)
    .map(([name, schema]) => {
      const inner = readMembers(schema).map((member) => memberWord(member))
      const member = readMember(name, fields(schema), true)
      return inner.length === 0 ? member : { ...member, bounds: `{ ${inner.join(', ')} }` }
    })
}

function readMember(name: string, schema: Fields, required: boolean): Member {
  const type = Array.isArray(schema.type) ? schema.type.map(word).join('|') : word(schema.type)
  return { name: text(name), required, type, bounds: boundsOf(schema), about: word(schema.description) }
}

function boundsOf(schema: Fields): string {
  const choices = list(schema.enum).map((one) => text(String(one)))
  if (choices.length > 0) return clip(choices.join('|'), ENUM_COLUMNS)
  const [least, most] = [number(schema.minimum), number(schema.maximum ?? schema.maxLength)]
  if (least !== undefined && most !== undefined) return `${count(least)} to ${count(most)}`
  return most === undefined ? '' : `max ${count(most)}`
}

/** `text*`: required. */
export function memberWord({ name, required }: Member): string {
  return required ? `${name}*` : name
}

/** `text* (max 50,000)`. */
export function memberWords(member: Member): string {
  return member.bounds === '' ? memberWord(member) : `${memberWord(member)} (${member.bounds})`
}
