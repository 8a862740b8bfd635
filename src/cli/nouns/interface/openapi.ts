import { wordsOf } from '../../../client/call.ts'
import { isObject, type Json } from '../../../core/json.ts'
import { CliError } from '../../exit.ts'
import type { Session } from '../../session.ts'

type Members = { readonly [member: string]: Json }
type Extensions = { readonly [extension: `x-${string}`]: Json }

export type PathOperation = Extensions & {
  readonly operationId?: string
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly description?: string
  readonly deprecated?: boolean
  readonly externalDocs?: Members
  readonly parameters?: readonly Members[]
  readonly requestBody?: Members
  readonly responses?: Members
  readonly callbacks?: Members
  readonly security?: readonly Members[]
  readonly servers?: readonly Members[]
}

/** The members of an OpenAPI 3.1 document that the program uses. */
export type OpenApiDocument = Extensions & {
  /** version of the format: 3.x */
  readonly openapi: string
  readonly info: Members
  readonly jsonSchemaDialect?: string
  readonly servers?: readonly Members[]
  /** by path, such as /v1/jobs/{id}; by method in lower case */
  readonly paths: { readonly [path: string]: { readonly [method: string]: PathOperation } }
  readonly webhooks?: { readonly [name: string]: Members }
  readonly components?: { readonly [kind: string]: Members }
  readonly security?: readonly Members[]
  readonly tags?: readonly Members[]
  readonly externalDocs?: Members
}

/** Reads the instance's OpenAPI description. @throws CliError `failure` if it is invalid */
export async function readOpenApi(session: Session): Promise<OpenApiDocument> {
  const { body } = await session.send(wordsOf('getOpenapi', {}))
  if (isDescription(body)) return body
  throw new CliError('failure', 'The instance returned an invalid OpenAPI description.', {
    facts: ['it needs a version 3.x in "openapi", and objects in "info" and "paths"'],
  })
}

/** Checks the outer form of the document, but not the content of its operations. */
function isDescription(body: unknown): body is OpenApiDocument {
  return (
    isObject(body) &&
    typeof body.openapi === 'string' &&
    body.openapi.startsWith('3.') &&
    isObject(body.info) &&
    isObject(body.paths) &&
    Object.values(body.paths).every((methods) => isObject(methods) && Object.values(methods).every(isObject))
  )
}

/** `GET /v1/jobs/{id}` → operation. */
export function operationsOf({ paths }: OpenApiDocument): ReadonlyMap<string, PathOperation> {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  )
  return new Map(rows)
}
