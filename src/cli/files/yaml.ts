/**
 * What is used of the YAML library, by name: its package is CommonJS, and bundled as a file of its own that has no names,
 * only a default. Loaded by import() where it is needed.
 */
import * as yaml from 'yaml'

export const { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } = yaml
