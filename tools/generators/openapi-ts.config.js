// How hey-api generates its client: paths end in .js, so that Node.js finds the compiled files.
export default {
  input: process.env.DOCUMENT,
  output: { path: "hey_api/client", module: { extension: ".js" } },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};
