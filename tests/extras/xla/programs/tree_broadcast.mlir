module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x5xf32>) -> (tensor<8x5xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}]>] out_shardings=[<@mesh, [{"d"}, {}]>] manual_axes={"d"} (%arg1: tensor<1x5xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x5xf32>) -> tensor<5xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %c_1 = stablehlo.constant dense<3> : tensor<i32>
      %6 = stablehlo.subtract %5, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %7 = func.call @remainder(%6, %c_2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %8 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[3, 4]]> : tensor<1x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %9 = stablehlo.compare GE, %7, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_4 = stablehlo.constant dense<2> : tensor<i32>
      %10 = stablehlo.compare LT, %7, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %11 = stablehlo.and %9, %10 : tensor<i1>
      %12 = stablehlo.convert %11 : (tensor<i1>) -> tensor<i32>
      %13 = "stablehlo.case"(%12) ({
        stablehlo.return %1 : tensor<5xf32>
      }, {
        stablehlo.return %8 : tensor<5xf32>
      }) : (tensor<i32>) -> tensor<5xf32>
      %14 = "stablehlo.collective_permute"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[3, 5], [4, 6]]> : tensor<2x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
      %c_5 = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.compare GE, %7, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<4> : tensor<i32>
      %16 = stablehlo.compare LT, %7, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %17 = stablehlo.and %15, %16 : tensor<i1>
      %18 = stablehlo.convert %17 : (tensor<i1>) -> tensor<i32>
      %19 = "stablehlo.case"(%18) ({
        stablehlo.return %13 : tensor<5xf32>
      }, {
        stablehlo.return %14 : tensor<5xf32>
      }) : (tensor<i32>) -> tensor<5xf32>
      %20 = "stablehlo.collective_permute"(%19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[3, 7], [4, 0], [5, 1], [6, 2]]> : tensor<4x2xi64>}> : (tensor<5xf32>) -> tensor<5xf32>
      %c_7 = stablehlo.constant dense<4> : tensor<i32>
      %21 = stablehlo.compare GE, %7, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_8 = stablehlo.constant dense<8> : tensor<i32>
      %22 = stablehlo.compare LT, %7, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %23 = stablehlo.and %21, %22 : tensor<i1>
      %24 = stablehlo.convert %23 : (tensor<i1>) -> tensor<i32>
      %25 = "stablehlo.case"(%24) ({
        stablehlo.return %19 : tensor<5xf32>
      }, {
        stablehlo.return %20 : tensor<5xf32>
      }) : (tensor<i32>) -> tensor<5xf32>
      %26 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
      sdy.return %26 : tensor<1x5xf32>
    } : (tensor<8x5xf32>) -> tensor<8x5xf32>
    return %0 : tensor<8x5xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}

