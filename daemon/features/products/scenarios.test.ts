import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { productScenarios } from './scenarios.testkit.ts'

describeScenarios('digital products', productScenarios)
