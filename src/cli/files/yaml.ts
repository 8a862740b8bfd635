/**
 * Re-exports the functions by name: a bundle has only a default export of this CommonJS package. Load with import().
 */
import * as yaml from 'yaml'

export const { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } = yaml
