import { type Api, api } from '../index.ts'
import { collectSchemas, type OpenApiNode } from './schemas.ts'

/** Response schemas by endpoint, and the schemas in `$defs` that they share. */
export type AnswerSchemas = {
  readonly answers: Readonly<Record<string, OpenApiNode>>
  readonly $defs: Readonly<Record<string, OpenApiNode>>
}

export function answerSchemas(names: readonly (keyof Api)[]): AnswerSchemas {
  const { components, of } = collectSchemas()
  const answers = names.flatMap((name): [string, OpenApiNode][] => {
    const { reply } = api[name]
    return 'schema' in reply ? [[name, of(reply.schema)]] : []
  })
  return { answers: inPlace(Object.fromEntries(answers)), $defs: inPlace(components) }
}

/** Changes all references so that they point to `$defs`, where the printed schemas are. */
function inPlace<T extends object>(schemas: T): T {
  return JSON.parse(JSON.stringify(schemas).replaceAll('"#/components/schemas/', '"#/$defs/')) as T
}
