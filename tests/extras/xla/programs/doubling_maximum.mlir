module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x3x4xf32>) -> (tensor<8x3x4xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}, {}]>] out_shardings=[<@mesh, [{"d"}, {}, {}]>] manual_axes={"d"} (%arg1: tensor<1x3x4xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
      %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2], [4, 5], [5, 4], [6, 7], [7, 6]]> : tensor<8x2xi64>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
      %3 = stablehlo.maximum %1, %2 : tensor<3x4xf32>
      %4 = "stablehlo.collective_permute"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3], [2, 0], [3, 1], [4, 6], [5, 7], [6, 4], [7, 5]]> : tensor<8x2xi64>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
      %5 = stablehlo.maximum %3, %4 : tensor<3x4xf32>
      %6 = "stablehlo.collective_permute"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4], [1, 5], [2, 6], [3, 7], [4, 0], [5, 1], [6, 2], [7, 3]]> : tensor<8x2xi64>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
      %7 = stablehlo.maximum %5, %6 : tensor<3x4xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
      sdy.return %8 : tensor<1x3x4xf32>
    } : (tensor<8x3x4xf32>) -> tensor<8x3x4xf32>
    return %0 : tensor<8x3x4xf32>
  }
}

