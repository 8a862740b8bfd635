import { productScenarios } from '../../fixtures/scenarios/products.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('digital products', productScenarios)
