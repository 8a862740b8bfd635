import { type Api, api } from '../index.ts'
import { collectSchemas, type OpenApiNode } from './schemas.ts'

/** Answers as JSON Schemas by the name of their endpoint, and the shapes that several of them share. */
export type AnswerSchemas = {
  readonly answers: Readonly<Record<string, OpenApiNode>>
  readonly $defs: Readonly<Record<string, OpenApiNode>>
}

/** The schemas of what endpoints answer, made from the contract when somebody asks for them. */
export function answerSchemas(names: readonly (keyof Api)[]): AnswerSchemas {
  const { components, of } = collectSchemas()
  const answers = names.flatMap((name): [string, OpenApiNode][] => {
    const { reply } = api[name]
    return 'schema' in reply ? [[name, of(reply.schema)]] : []
  })
  return { answers: inPlace(Object.fromEntries(answers)), $defs: inPlace(components) }
}

/** References as they are where the shapes stand beside the schemas. */
function inPlace<T extends object>(schemas: T): T {
  // Nothing in it but names of references changes.
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/components/schemas/', '"#/$defs/')) as T
}
