/** Re-exports names, since a bundled CommonJS package has only a default export. Load this file with import(). */
import * as yaml from 'yaml'

export const { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } = yaml
