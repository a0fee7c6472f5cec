import js from "@eslint/js";

const known =
  "process performance Buffer URL AbortController console SharedArrayBuffer Atomics setTimeout clearTimeout TextEncoder".split(" ");

export default [
  js.configs.recommended,
  {
    languageOptions: { globals: Object.fromEntries(known.map((name) => [name, "readonly"])) },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-empty": ["error", { allowEmptyCatch: true }],
      "no-unused-vars": ["error", { args: "after-used", argsIgnorePattern: "^_" }],
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
];
