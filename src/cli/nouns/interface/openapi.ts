import { wordsOf } from '../../../client/call.ts'
import { type AnyObject, isObject } from '../../../core/json.ts'
import { CliError } from '../../exit.ts'
import type { Session } from '../../session.ts'

export type PathOperation = AnyObject

/** The outer form of an OpenAPI 3 document; its other members are not checked. */
export type OpenApiDocument = {
  readonly openapi: string
  readonly info: AnyObject
  /** by path, such as /v1/jobs/{id}; by method in lower case */
  readonly paths: { readonly [path: string]: { readonly [method: string]: PathOperation } }
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
