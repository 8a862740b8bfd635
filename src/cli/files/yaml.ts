/** Imported by name: the package is CommonJS, which bundles as a default export only. Load it with import(). */
import * as yaml from 'yaml'

export const { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } = yaml
