// Only what the page draws with: everything else is shaken out of the bundle.
export { axisX, axisY, barX, dot, gridX, line, plot, ruleX, ruleY, text, tickX } from "@observablehq/plot";
